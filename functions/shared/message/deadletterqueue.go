package message

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// DeadLetterQueue is the queue to which SQS moves a message that was received MaxReceives times and was not
// acknowledged. Most functions have stored a dead letter before that. A function that was killed could not.
type DeadLetterQueue struct {
	Client *sqs.Client
	URL    string // URL of the queue
	Prefix string // what comes before the name of a queue, as in package task, in SQS's name of it, such as "prod-"
	Store  DeadLetterStore
}

// Limits of one call of Drain.
const (
	maxDrains  = 10 // greatest number of requests for messages
	drainBatch = 10 // greatest number of messages that SQS gives for one request
)

// Drain moves messages from the queue to the bucket, as dead letters: at most 100, and later calls the others. If the
// bucket has the dead letter already, it stays as it is, because it has the reason. If there is no such queue, as on
// one machine, Drain does nothing.
func (q *DeadLetterQueue) Drain(ctx context.Context) error {
	for range maxDrains {
		received, err := q.Client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(q.URL), MaxNumberOfMessages: drainBatch,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if _, none := errors.AsType[*types.QueueDoesNotExist](err); none {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot receive from the queue of dead letters: %w", err)
		}
		if len(received.Messages) == 0 {
			return nil
		}
		var errs []error
		for _, m := range received.Messages {
			errs = append(errs, q.move(ctx, m))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// move stores a dead letter for a message of the queue, and then deletes the message.
func (q *DeadLetterQueue) move(ctx context.Context, m types.Message) error {
	source := m.Attributes["DeadLetterQueueSourceArn"]
	letter := DeadLetter{
		Queue:   strings.TrimPrefix(source[strings.LastIndex(source, ":")+1:], q.Prefix),
		Message: aws.ToString(m.MessageId), Body: WithoutEnvelope(aws.ToString(m.Body)), At: q.Store.Now(), Receives: MaxReceives,
		Reason: fmt.Sprintf("its function was killed, or could not store a reason: the message was not acknowledged in %d deliveries", MaxReceives),
	}
	if !q.Store.Store(ctx, letter) {
		return fmt.Errorf("cannot store the dead letter of message %s; it stays in the queue of dead letters", letter.Message)
	}
	if _, err := q.Client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: aws.String(q.URL), ReceiptHandle: m.ReceiptHandle}); err != nil {
		return fmt.Errorf("cannot delete message %s from the queue of dead letters: %w", letter.Message, err)
	}
	return nil
}
