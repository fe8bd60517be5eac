package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/local/queue"
)

// queueProperties are the properties of a queue in the template.
type queueProperties struct {
	QueueName         string
	DelaySeconds      int
	VisibilityTimeout int
	RedrivePolicy     *struct {
		DeadLetterTargetArn string
		MaxReceiveCount     int
	}
}

// queues are the queues of the stack by their QueueName. They speak SQS's protocol.
type queues struct {
	set    queue.Set
	delays map[string]time.Duration // delay of messages that are sent without one, by the queue's name
	access *access
	meter  *meter

	mu      sync.Mutex        // protects the field sources
	sources map[string]string // ARN of the queue from which a dead letter came, by the id of the dead letter
}

// defaultVisibility is the visibility timeout of a queue for which the template sets none.
const defaultVisibility = 30 * time.Second

// newQueues returns the queues of a template.
func newQueues(t template, a *access, m *meter) (*queues, error) {
	described, err := resourcesOf[queueProperties](t, "AWS::SQS::Queue")
	if err != nil {
		return nil, err
	}
	q := &queues{make(queue.Set), make(map[string]time.Duration), a, m, sync.Mutex{}, make(map[string]string)}
	for _, d := range described {
		options := queue.Options{Name: d.QueueName, Visibility: defaultVisibility, MaxReceives: math.MaxInt}
		if d.VisibilityTimeout > 0 {
			options.Visibility = time.Duration(d.VisibilityTimeout) * time.Second
		}
		if d.RedrivePolicy != nil {
			dead := nameOf(d.RedrivePolicy.DeadLetterTargetArn)
			options.MaxReceives = d.RedrivePolicy.MaxReceiveCount
			options.Dead = func(letter message.DeadLetter) { q.bury(dead, letter) }
		}
		q.set[d.QueueName], q.delays[d.QueueName] = queue.New(options), time.Duration(d.DelaySeconds)*time.Second
	}
	return q, nil
}

// nameOf returns the last element of an ARN, which is the name of a queue or of a function.
func nameOf(arn string) string { return arn[strings.LastIndex(arn, ":")+1:] }

// bury moves a message to the queue of dead letters.
func (q *queues) bury(dead string, letter message.DeadLetter) {
	id, err := q.set[dead].Send(letter.Body, 0)
	if err != nil {
		panic(err) // never: another queue took this message
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sources[id] = queueARN(letter.Queue)
}

// post sends a message in the role of a service of AWS to the queue with the ARN, if the role may do so. The source
// is the resource for which it does so (see access.allowsFor).
func (q *queues) post(source, role, arn, body string) {
	if !q.access.allowsFor(source, role, "sqs:SendMessage", arn) {
		return
	}
	q.meter.add(role, usage{Messages: chunks(body)})
	if err := q.set.Send(context.Background(), nameOf(arn), []byte(body), q.delays[nameOf(arn)]); err != nil {
		panic(err) // never: the template has the queue, and services send what SQS takes
	}
}

// chunks returns as how many requests SQS bills a message: each 64 KiB count as one.
func chunks(body string) int { return (len(body)-1)>>16 + 1 }

// sqsRequest is a request to SQS: the fields of the operations that functions use.
type sqsRequest struct {
	QueueURL            string `json:"QueueUrl"`
	MessageBody         string `json:",omitempty"`
	DelaySeconds        int    `json:",omitempty"`
	MaxNumberOfMessages int    `json:",omitempty"`
	WaitTimeSeconds     int    `json:",omitempty"`
	ReceiptHandle       string `json:",omitempty"`
}

// serve checks and counts a request of a role to SQS, and answers it.
func (q *queues) serve(role string, w http.ResponseWriter, r *http.Request) {
	action := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.")
	var asked sqsRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 2<<20)).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := path.Base(asked.QueueURL)
	q.meter.add(role, usage{Messages: chunks(asked.MessageBody + " ")})
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if !q.access.allows(role, "sqs:"+action, queueARN(name)) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"__type":"com.amazonaws.sqs#AccessDenied","message":"%s may not %s"}`, role, action)
		return
	}
	switch action {
	case "ReceiveMessage":
		wait := time.Now().Add(time.Duration(asked.WaitTimeSeconds) * time.Second)
		all := q.receive(name, max(asked.MaxNumberOfMessages, 1))
		for len(all) == 0 && time.Now().Before(wait) && r.Context().Err() == nil {
			time.Sleep(pollTime) // as mapping.await
			all = q.receive(name, max(asked.MaxNumberOfMessages, 1))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"Messages": all})
	case "DeleteMessage":
		q.set[name].Delete(asked.ReceiptHandle)
		fmt.Fprint(w, "{}")
	default:
		if asked.DelaySeconds == 0 { // as SQS's client says it, too, if the message has no delay of its own
			asked.DelaySeconds = int(q.delays[name] / time.Second)
		}
		body, _ := json.Marshal(asked) // strings and numbers always have a JSON form
		r.Body = io.NopCloser(bytes.NewReader(body))
		queue.Handler(q.set).ServeHTTP(w, r)
	}
}

// received is a message in an answer to ReceiveMessage.
type received struct {
	MessageID     string `json:"MessageId"`
	ReceiptHandle string
	Body          string
	MD5OfBody     string
	Attributes    map[string]string
}

func (q *queues) receive(name string, limit int) []received {
	var all []received
	for _, m := range q.set[name].Receive(limit) {
		q.mu.Lock()
		if source := q.sources[m.MessageId]; source != "" {
			m.Attributes["DeadLetterQueueSourceArn"] = source
		}
		q.mu.Unlock()
		all = append(all, received{m.MessageId, m.ReceiptHandle, m.Body, m.Md5OfBody, m.Attributes})
	}
	return all
}
