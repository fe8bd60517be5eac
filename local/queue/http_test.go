package queue_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/local/queue"
)

// direct is an HTTP client that passes requests to a handler without a network.
type direct struct{ http.Handler }

func (d direct) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

// urls is the part of a queue's URL before its name.
const urls = "http://127.0.0.1/000000000000/"

// serveQueue returns AWS's client, connected to a queue called fetch.
func serveQueue() (*sqs.Client, *queue.Queue) {
	q, _ := newQueue(1)
	return sqs.New(sqs.Options{
		Region:       "local",
		BaseEndpoint: aws.String(urls),
		Credentials:  credentials.NewStaticCredentialsProvider("key", "secret", ""),
		HTTPClient:   direct{queue.Handler(queue.Set{"fetch": q})},
	}), q
}

func TestCloudSenderSends(t *testing.T) {
	tests := []struct {
		name  string
		delay time.Duration
		due   time.Duration
	}{
		{"at once", 0, 0},
		{"negative", -time.Second, 0},
		{"rounded up", 1, time.Second},
		{"whole seconds", 90 * time.Second, 90 * time.Second},
		{"cut", time.Hour, 15 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, q := serveQueue()
				sender := message.NewSQS(client, map[string]string{"fetch": urls + "fetch"})
				body := `{"url":"http://a/é \" \\ <&>"}`
				if err := sender.Send(t.Context(), "fetch", []byte(body), tt.delay); err != nil {
					t.Fatal(err)
				}
				if tt.due > 0 {
					pass(tt.due - 1)
					if got := q.Receive(1); got != nil {
						t.Errorf("received early: %v", got)
					}
					pass(1)
				}
				if got := receiveOne(t, q).Body; got != body {
					t.Errorf("body %s, want %s", got, body)
				}
			})
		})
	}
}

func TestCloudSenderTakesTheLongestBody(t *testing.T) {
	client, q := serveQueue()
	sender := message.NewSQS(client, map[string]string{"fetch": urls + "fetch"})
	body := strings.Repeat("\x01", message.MaxBody) // JSON needs six bytes for each of these
	if err := sender.Send(t.Context(), "fetch", []byte(body), 0); err != nil {
		t.Fatal(err)
	}
	if got := receiveOne(t, q).Body; got != body {
		t.Errorf("a body of %d bytes came as %d", len(body), len(got))
	}
}

func TestCloudSenderFails(t *testing.T) {
	client, q := serveQueue()
	sender := message.NewSQS(client, map[string]string{"fetch": urls + "fetch", "gone": urls + "gone"})
	tests := []struct{ name, queue, body, want string }{
		{"no URL", "pack", "x", "cannot send to queue pack: no URL is configured for it"},
		{"too long", "fetch", strings.Repeat("x", message.MaxBody+1), "cannot send to queue fetch: a body of 262145 bytes is over the limit of 262144"},
		{"no such queue", "gone", "x", "there is no queue"},
		{"refused there", "fetch", "", "the body is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := sender.Send(t.Context(), tt.queue, []byte(tt.body), 0)
			if err == nil || !strings.HasPrefix(err.Error(), "cannot send to queue "+tt.queue+": ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if _, ok := errors.AsType[*types.QueueDoesNotExist](err); ok != (tt.queue == "gone") {
				t.Errorf("error %v is QueueDoesNotExist: %v", err, ok)
			}
			expectCounts(t, q, queue.Counts{})
		})
	}
}

func TestSendMessageBatch(t *testing.T) {
	client, q := serveQueue()
	entry := func(id, body string, delay int32) types.SendMessageBatchRequestEntry {
		return types.SendMessageBatchRequestEntry{Id: &id, MessageBody: &body, DelaySeconds: delay}
	}
	out, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{
		QueueUrl: aws.String(urls + "fetch"),
		Entries:  []types.SendMessageBatchRequestEntry{entry("a", "x", 0), entry("b", "y", 901), entry("c", "z", 5)},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range out.Successful {
		got[*s.Id] = *s.MessageId
	}
	for _, f := range out.Failed {
		got[*f.Id] = *f.Message
	}
	want := map[string]string{"a": "fetch-1", "b": "a delay of 901 seconds is not between 0 and 15m0s", "c": "fetch-2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	expectCounts(t, q, queue.Counts{Visible: 1, Delayed: 1})

	_, err = client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{
		QueueUrl: aws.String(urls + "fetch"), Entries: []types.SendMessageBatchRequestEntry{},
	})
	if err == nil || !strings.Contains(err.Error(), "a batch has 1 to 10 entries, not 0") {
		t.Errorf("empty batch: %v", err)
	}
}

func TestHandlerRefuses(t *testing.T) {
	q, _ := newQueue(1)
	handler := queue.Handler(queue.Set{"fetch": q})
	tests := []struct{ name, target, body, want string }{
		{"other operation", "AmazonSQS.PurgeQueue", `{"QueueUrl":"http://h/0/fetch"}`, `\"AmazonSQS.PurgeQueue\" is not served here`},
		{"no JSON", "AmazonSQS.SendMessage", `QueueUrl`, "cannot read the request of AmazonSQS.SendMessage"},
		{"endless", "AmazonSQS.SendMessage", `{"MessageBody":"` + strings.Repeat("x", 3<<20) + `"}`, "request body too large"},
		{"no queue", "AmazonSQS.SendMessage", `{}`, "QueueDoesNotExist"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tt.body))
			r.Header.Set("X-Amz-Target", tt.target)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("answer %d %s, want %q", w.Code, w.Body, tt.want)
			}
			expectCounts(t, q, queue.Counts{})
		})
	}
}

func FuzzHandler(f *testing.F) {
	f.Add("AmazonSQS.SendMessage", `{"QueueUrl":"http://127.0.0.1:1/000000000000/fetch","MessageBody":"x","DelaySeconds":3}`)
	f.Add("AmazonSQS.SendMessageBatch", `{"QueueUrl":"/fetch","Entries":[{"Id":"a","MessageBody":"x"},{"Id":"b"}]}`)
	f.Fuzz(func(t *testing.T, target, body string) {
		synctest.Test(t, func(t *testing.T) {
			q, _ := newQueue(1)
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
			r.Header.Set("X-Amz-Target", target)
			w := httptest.NewRecorder()
			queue.Handler(queue.Set{"fetch": q}).ServeHTTP(w, r)
			pass(message.MaxDelay)
			if counts := q.Counts(); w.Code != http.StatusOK && counts != (queue.Counts{}) || counts.Delayed > 0 {
				t.Errorf("answer %d %s, counts %+v", w.Code, w.Body, counts)
			}
		})
	})
}
