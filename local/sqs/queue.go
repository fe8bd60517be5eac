// Package sqs receives messages from a queue of SQS, or of a server that speaks its protocol, for functions
// that run outside of Lambda. It does what Lambda's event source mapping does. Messages that fail are visible
// again after a back-off, and not only after the visibility timeout of the queue. The queue counts receives,
// and moves messages that fail too often to a queue of dead letters.
package sqs

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

const (
	most       = 10               // greatest number of messages that SQS returns at once
	wait       = 20 * time.Second // greatest time for which SQS waits for a message; each request costs money
	pause      = 5 * time.Second  // time between two attempts to receive messages from a queue that does not answer
	longest    = 15 * time.Minute // longest back-off
	answerTime = 10 * time.Second // time limit for deleting a message, or giving it back
	receives   = types.MessageSystemAttributeNameApproximateReceiveCount
)

// Queue is a queue of SQS. It is safe for concurrent use.
type Queue struct {
	client *sqs.Client
	url    string
	log    *slog.Logger

	mu   sync.Mutex     // protects held
	held map[string]int // number of receives of the messages that this process handles, by receipt handle
}

// New returns the queue with the URL.
func New(client *sqs.Client, url string, log *slog.Logger) *Queue {
	return &Queue{client: client, url: url, log: log, held: make(map[string]int)}
}

// Await implements queue.Source. While the queue does not answer, it tries again and again.
func (q *Queue) Await(ctx context.Context, limit int) []events.SQSMessage {
	for ctx.Err() == nil {
		received, err := q.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: &q.url, MaxNumberOfMessages: int32(min(limit, most)), WaitTimeSeconds: int32(wait / time.Second),
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{receives, types.MessageSystemAttributeNameSentTimestamp},
		})
		switch {
		case err != nil && ctx.Err() == nil:
			q.log.WarnContext(ctx, "no messages can be received", "queue", q.url, "error", err)
			_ = blob.Sleep(ctx, pause) // fails when ctx ends
		case err == nil && len(received.Messages) > 0:
			return q.hold(received.Messages)
		}
	}
	return nil
}

// hold notes that this process handles the messages, and returns them in the form in which Lambda gives them
// to a function.
func (q *Queue) hold(received []types.Message) (batch []events.SQSMessage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range received {
		receipt := aws.ToString(m.ReceiptHandle)
		q.held[receipt], _ = strconv.Atoi(m.Attributes[string(receives)])
		batch = append(batch, events.SQSMessage{
			MessageId: aws.ToString(m.MessageId), ReceiptHandle: receipt, Body: message.WithoutEnvelope(aws.ToString(m.Body)), Md5OfBody: aws.ToString(m.MD5OfBody),
			Attributes: m.Attributes, EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:::" + q.url[strings.LastIndex(q.url, "/")+1:],
		})
	}
	return batch
}

// release returns the number of receives of a message, which this process no longer handles.
func (q *Queue) release(receipt string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.held[receipt]
	delete(q.held, receipt)
	return n
}

// Delete implements queue.Source.
func (q *Queue) Delete(receipt string) {
	q.release(receipt)
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	if _, err := q.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q.url, ReceiptHandle: &receipt}); err != nil {
		q.log.Warn("a message will come once more", "queue", q.url, "error", err)
	}
}

// Fail implements queue.Source. The message is visible again after a back-off: a second, doubled with each
// further receive, at most 15 minutes.
func (q *Queue) Fail(receipt, _ string) {
	backoff := min(time.Second<<min(max(q.release(receipt)-1, 0), 20), longest)
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	_, err := q.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &q.url, ReceiptHandle: &receipt, VisibilityTimeout: int32(backoff / time.Second),
	})
	if err != nil {
		q.log.Warn("a failed message will come again after the visibility timeout only", "queue", q.url, "error", err)
	}
}
