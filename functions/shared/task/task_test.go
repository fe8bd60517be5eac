package task

import (
	"context"
	"errors"
	"testing"
	"time"
)

type sender func(queue, body string, delay time.Duration) error

func (s sender) Send(_ context.Context, queue string, body []byte, delay time.Duration) error {
	return s(queue, string(body), delay)
}

func TestSend(t *testing.T) {
	refused := errors.New("refused")
	for _, test := range []struct {
		message any
		want    string
	}{
		{Lease{Crawl: 3}, `{"crawl":3}`},
		{Gather{Storage: 7}, `{"storage":7}`},
		{Gather{Flush: true}, `{"storage":0,"flush":true}`},
		{map[string]string{"url": "http://a/?b&c<d"}, `{"url":"http://a/?b&c<d"}`},
	} {
		var got string
		err := Send(t.Context(), sender(func(queue, body string, delay time.Duration) error {
			if queue != Pack || delay != time.Minute {
				t.Errorf("sent to %s after %v", queue, delay)
			}
			got = body
			return refused
		}), Pack, test.message, time.Minute)
		if got != test.want || !errors.Is(err, refused) {
			t.Errorf("sent %s, %v; want %s and the sender's error", got, err, test.want)
		}
	}
	if err := Send(t.Context(), nil, Pack, make(chan int), 0); err == nil {
		t.Error("a channel was encoded")
	}
}
