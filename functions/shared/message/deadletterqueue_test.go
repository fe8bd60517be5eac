package message_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

// creator is a bucket in which objects are only created.
type creator func(key string) error

func (c creator) Create(_ context.Context, key string, _ []byte) error { return c(key) }

// TestDrain checks that Drain deletes exactly those messages of which it has stored a dead letter.
func TestDrain(t *testing.T) {
	for _, test := range []struct {
		name          string
		waiting       int // messages in the queue; -1: there is no queue
		refused       int // number of the message whose dead letter cannot be stored; 0: none
		stored, moved int
		fails         bool
	}{
		{"none", 0, 0, 0, 0, false},
		{"several requests", 25, 0, 25, 25, false},
		{"more than one call takes", 120, 0, 100, 100, false},
		{"one is not stored", 5, 3, 4, 4, true},
		{"no queue", -1, 0, 0, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			given, deleted, stored := 0, 0, 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/x-amz-json-1.0")
				switch r.Header.Get("X-Amz-Target") {
				case "AmazonSQS.DeleteMessage":
					deleted++
					fmt.Fprint(w, "{}")
				case "AmazonSQS.ReceiveMessage":
					if test.waiting < 0 {
						w.WriteHeader(http.StatusBadRequest)
						fmt.Fprint(w, `{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"none"}`)
						return
					}
					var messages []map[string]any
					for ; len(messages) < 10 && given < test.waiting; given++ {
						messages = append(messages, map[string]any{
							"MessageId": fmt.Sprint(given), "ReceiptHandle": "r", "Body": `{"storage":0}`,
							"Attributes": map[string]string{"DeadLetterQueueSourceArn": "arn:aws:sqs:eu:1:prod-merge"},
						})
					}
					_ = json.NewEncoder(w).Encode(map[string]any{"Messages": messages})
				}
			}))
			defer server.Close()
			want := message.DeadLetter{Queue: "merge", Body: `{"storage":0}`}.Key()
			tried := 0
			queue := &message.DeadLetterQueue{
				Client: sqs.New(sqs.Options{
					Region: "local", BaseEndpoint: aws.String(server.URL), Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
				}),
				URL: "https://sqs/1/prod-dead", Prefix: "prod-",
				Store: message.DeadLetterStore{Now: time.Now, Log: slog.New(slog.DiscardHandler), Bucket: creator(func(key string) error {
					if key != want {
						t.Errorf("stored %s, want %s", key, want)
					}
					if tried++; tried == test.refused {
						return errors.New("refused")
					}
					stored++
					return nil
				})},
			}
			if err := queue.Drain(t.Context()); (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
			if stored != test.stored || deleted != test.moved {
				t.Errorf("stored %d, deleted %d; want %d, %d", stored, deleted, test.stored, test.moved)
			}
		})
	}
}
