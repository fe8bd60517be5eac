package sqs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/local/queue"
)

// server speaks so much of SQS's JSON protocol as a Queue needs. It delivers the messages in bodies, and
// those again whose visibility becomes 0; all others that are not deleted stay hidden.
type server struct {
	mu       sync.Mutex
	bodies   []string
	receives map[string]int // by body
	said     []string       // what was asked of the server, but for receiving
	empty    chan struct{}  // closed when every message is deleted
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		QueueURL          string `json:"QueueUrl"`
		ReceiptHandle     string
		VisibilityTimeout int
		WaitTimeSeconds   int
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || !strings.HasSuffix(asked.QueueURL, "/stack-fetch") {
		http.Error(w, fmt.Sprint(asked, err), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := map[string]any{}
	switch operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS."); operation {
	case "ReceiveMessage":
		if asked.WaitTimeSeconds != 20 {
			s.said = append(s.said, fmt.Sprintf("waits %d s", asked.WaitTimeSeconds))
		}
		if len(s.bodies) > 0 {
			body := s.bodies[0]
			s.bodies = s.bodies[1:]
			s.receives[body]++
			answer["Messages"] = []map[string]any{{
				"MessageId": "id-" + body, "ReceiptHandle": body, "Body": body,
				"Attributes": map[string]string{"ApproximateReceiveCount": fmt.Sprint(s.receives[body])},
			}}
		}
	case "ChangeMessageVisibility":
		s.said = append(s.said, fmt.Sprintf("%s in %d s", asked.ReceiptHandle, asked.VisibilityTimeout))
		s.bodies = append(s.bodies, asked.ReceiptHandle)
	case "DeleteMessage":
		s.said = append(s.said, asked.ReceiptHandle+" is done")
		if delete(s.receives, asked.ReceiptHandle); len(s.receives) == 0 && len(s.bodies) == 0 {
			close(s.empty)
		}
	default:
		http.Error(w, operation, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_ = json.NewEncoder(w).Encode(answer)
}

// TestEnvelope receives a notification of SNS, which a function gets without SNS's envelope, as in Lambda.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	q := New(nil, "https://sqs.example/1/stack-pack", slog.New(slog.DiscardHandler))
	batch := q.hold([]types.Message{{Body: aws.String(`{"Type":"Notification","TopicArn":"arn:aws:sns:r:1:t","Message":"{\"Records\":[]}"}`)}})
	if got := batch[0].Body; got != `{"Records":[]}` {
		t.Errorf("body %s", got)
	}
}

// TestQueue delivers messages of a queue to a function, one of which fails twice.
func TestQueue(t *testing.T) {
	t.Parallel()
	s := &server{bodies: []string{"good", "bad"}, receives: make(map[string]int), empty: make(chan struct{})}
	served := httptest.NewServer(s)
	defer served.Close()
	signing := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "k", SecretAccessKey: "s"}, nil
	})
	client := sqs.New(sqs.Options{Region: "r", BaseEndpoint: &served.URL, Credentials: signing})
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	var seen []string
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- queue.Deliver(ctx, New(client, served.URL+"/1/stack-fetch", log), queue.Mapping{
			Concurrency: 1, BatchSize: 1, Timeout: time.Minute, Grace: time.Minute, Log: log,
			Function: func(_ context.Context, e events.SQSEvent) (r events.SQSEventResponse, _ error) {
				for _, m := range e.Records {
					count := m.Attributes["ApproximateReceiveCount"]
					seen = append(seen, m.Body+" "+count+" "+m.EventSourceARN)
					if m.Body == "bad" && count < "3" {
						r.BatchItemFailures = append(r.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
					}
				}
				return r, nil
			},
		})
	}()
	<-s.empty
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	const of = " arn:aws:sqs:::stack-fetch"
	if diff := cmp.Diff([]string{"good 1" + of, "bad 1" + of, "bad 2" + of, "bad 3" + of}, seen); diff != "" {
		t.Errorf("the function received (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"good is done", "bad in 1 s", "bad in 2 s", "bad is done"}, s.said); diff != "" {
		t.Errorf("the queue was told (-want +got):\n%s", diff)
	}
}
