package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

const (
	maxRequest = 2 << 20 // maximum size of a request in bytes; one byte of a message may be six in JSON, such as \u0001
	maxEntries = 10      // maximum number of messages of a SendMessageBatch
)

// Handler returns a handler for SendMessage and SendMessageBatch of SQS's JSON protocol
// (X-Amz-Target: AmazonSQS.SendMessage). Functions in other processes send messages to this
// handler with the client that they use in the cloud. The last element of a QueueUrl, such as
// http://127.0.0.1:4566/000000000000/fetch, is the name of the queue. Signatures are not
// checked: listen on loopback only.
func Handler(queues map[string]*Queue) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := serve(queues, r.Header.Get("X-Amz-Target"), http.MaxBytesReader(w, r.Body, maxRequest))
		status := http.StatusOK
		if err != nil {
			code := "InvalidParameterValue"
			if f, ok := errors.AsType[*fault](err); ok {
				code = f.code
			}
			status = http.StatusBadRequest
			answer = map[string]string{"__type": "com.amazonaws.sqs#" + code, "message": err.Error()}
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer) // fails if the client has gone, which will send the request again
	})
}

// fault is an error with an error code of SQS.
type fault struct{ code, text string }

func (f *fault) Error() string { return f.text }

// entry is one message that a client wants to send, as part of a request.
type entry struct {
	ID           string `json:"Id"`
	MessageBody  string
	DelaySeconds int64
}

// sent is the answer to a SendMessage, or the part of the answer to a SendMessageBatch about one
// accepted message.
type sent struct {
	ID               string `json:"Id,omitempty"`
	MessageID        string `json:"MessageId"`
	MD5OfMessageBody string
}

// refused describes a message that was refused, in the answer to a SendMessageBatch.
type refused struct {
	ID          string `json:"Id"`
	Code        string
	Message     string
	SenderFault bool
}

// serve executes the operation of a request, and returns the answer, a value to be sent as JSON.
// target is the header X-Amz-Target, which names the operation; body holds the operation's
// arguments.
func serve(queues map[string]*Queue, target string, body io.Reader) (any, error) {
	var request struct {
		QueueURL string `json:"QueueUrl"`
		entry
		Entries []entry
	}
	if err := json.NewDecoder(body).Decode(&request); err != nil {
		return nil, fmt.Errorf("cannot read the request of %s: %w", target, err)
	}
	q, ok := queues[path.Base(request.QueueURL)]
	if !ok {
		return nil, &fault{"QueueDoesNotExist", fmt.Sprintf("there is no queue %q", request.QueueURL)}
	}
	switch target {
	case "AmazonSQS.SendMessage":
		return q.accept(request.entry)
	case "AmazonSQS.SendMessageBatch":
		return q.acceptAll(request.Entries)
	}
	return nil, &fault{"UnsupportedOperation", fmt.Sprintf("%q is not served here", target)}
}

// accept puts a message of a request into the queue, and returns the part of the answer about
// this message.
func (q *Queue) accept(e entry) (sent, error) {
	if e.DelaySeconds < 0 || e.DelaySeconds > int64(message.MaxDelay/time.Second) {
		return sent{}, fmt.Errorf("a delay of %d seconds is not between 0 and %v", e.DelaySeconds, message.MaxDelay)
	}
	id, err := q.Send(e.MessageBody, time.Duration(e.DelaySeconds)*time.Second)
	if err != nil {
		return sent{}, err
	}
	return sent{ID: e.ID, MessageID: id, MD5OfMessageBody: md5Hex(e.MessageBody)}, nil
}

// acceptAll puts the messages of a SendMessageBatch into the queue, and returns the answer.
func (q *Queue) acceptAll(entries []entry) (any, error) {
	if len(entries) == 0 || len(entries) > maxEntries {
		return nil, fmt.Errorf("a batch has 1 to %d entries, not %d", maxEntries, len(entries))
	}
	answer := struct {
		Successful []sent
		Failed     []refused
	}{[]sent{}, []refused{}}
	for _, e := range entries {
		s, err := q.accept(e)
		if err != nil {
			answer.Failed = append(answer.Failed, refused{e.ID, "InvalidParameterValue", err.Error(), true})
			continue
		}
		answer.Successful = append(answer.Successful, s)
	}
	return answer, nil
}
