package message

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Limits of one SQS message.
const (
	MaxBody  = 256 << 10        // bytes of its body
	MaxDelay = 15 * time.Minute // from sending to the first delivery
)

// SQS sends messages to SQS. It is safe for concurrent use.
type SQS struct {
	client *sqs.Client
	urls   map[string]string
}

// NewSQS returns a sender to the queues with the given names, each with its
// URL. The map must not change afterwards.
func NewSQS(client *sqs.Client, urls map[string]string) *SQS {
	return &SQS{client: client, urls: urls}
}

// Send sends a body of at most MaxBody bytes to the queue of that name, to be
// delivered after the delay: rounded up to whole seconds, at most MaxDelay,
// longer ones cut to it. An error may mean that the message was sent all the
// same.
func (s *SQS) Send(ctx context.Context, queue string, body []byte, delay time.Duration) error {
	url, ok := s.urls[queue]
	if !ok {
		return fmt.Errorf("cannot send to queue %s: no URL is configured for it", queue)
	}
	if len(body) > MaxBody {
		return fmt.Errorf("cannot send to queue %s: a body of %d bytes is over the limit of %d", queue, len(body), MaxBody)
	}
	_, err := s.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl:     aws.String(url),
		MessageBody:  aws.String(string(body)),
		DelaySeconds: delaySeconds(delay),
	})
	if err != nil {
		return fmt.Errorf("cannot send to queue %s: %w", queue, err)
	}
	return nil
}

func delaySeconds(delay time.Duration) int32 {
	delay = min(max(delay, 0), MaxDelay)
	return int32((delay + time.Second - 1) / time.Second)
}
