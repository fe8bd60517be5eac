package message

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
)

// EachKey calls run with the key of every object whose creation a bucket event reports (see
// S3Keys). After an error it goes on with the other keys; it returns all errors, joined.
func EachKey(body string, run func(key string) error) error {
	keys, err := S3Keys(body)
	errs := []error{err}
	for _, key := range keys {
		errs = append(errs, run(key))
	}
	return errors.Join(errs...)
}

// S3Keys returns the unescaped keys of the created objects in a bucket event, as S3 or
// EventBridge sends it. Events other than ObjectCreated are skipped, and s3:TestEvent,
// which S3 sends when a notification is set up, has no keys. An eventName may begin with
// "s3:", as some stores write it. A body that is not an event is a Terminal error.
func S3Keys(body string) ([]string, error) {
	keys, err := s3Keys(body)
	if err != nil {
		return nil, Terminal(fmt.Errorf("cannot read bucket event: %w", err))
	}
	return keys, nil
}

func s3Keys(body string) ([]string, error) {
	if len(body) > MaxBody {
		return nil, fmt.Errorf("%d bytes are more than the %d of a message", len(body), MaxBody)
	}
	var event struct {
		Event   string
		Records []struct {
			EventName string `json:"eventName"`
			S3        struct {
				Object struct {
					Key string `json:"key"`
				} `json:"object"`
			} `json:"s3"`
		}
		Source     string
		DetailType string `json:"detail-type"`
		Detail     struct{ Object struct{ Key string } }
	}
	if err := json.Unmarshal([]byte(body), &event); err != nil {
		return nil, err
	}
	if event.Source == "aws.s3" { // from EventBridge, which does not escape keys
		switch key := event.Detail.Object.Key; {
		case event.DetailType != "Object Created":
			return nil, nil
		case key == "":
			return nil, errors.New("it has no object key")
		default:
			return []string{key}, nil
		}
	}
	if event.Event == "s3:TestEvent" {
		return nil, nil
	}
	if event.Records == nil {
		return nil, errors.New("it has no Records")
	}
	var keys []string
	for i, r := range event.Records {
		if !strings.HasPrefix(strings.TrimPrefix(r.EventName, "s3:"), "ObjectCreated:") {
			continue
		}
		key, err := url.QueryUnescape(r.S3.Object.Key)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", i, err)
		}
		if key == "" {
			return nil, fmt.Errorf("record %d: it has no object key", i)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// S3Event returns the message body by which S3 reports a created object. In it, the key is
// query-escaped except for its slashes, and the time is in UTC, to the millisecond.
func S3Event(bucket, key string, size int64, at time.Time) []byte {
	event := events.S3Event{Records: []events.S3EventRecord{{
		EventVersion: "2.1",
		EventSource:  "aws:s3",
		EventTime:    at.UTC().Truncate(time.Millisecond),
		EventName:    "ObjectCreated:Put",
		S3: events.S3Entity{
			SchemaVersion: "1.0",
			Bucket:        events.S3Bucket{Name: bucket, Arn: "arn:aws:s3:::" + bucket},
			Object: events.S3Object{
				Key:  strings.ReplaceAll(url.QueryEscape(key), "%2F", "/"),
				Size: size,
			},
		},
	}}}
	body, err := json.Marshal(event)
	if err != nil {
		panic(fmt.Sprintf("a bucket event always has a JSON form: %v", err)) // of strings, a number and a time
	}
	return body
}

// Raise sends to a queue the event by which S3 reports that an object was created (see S3Event).
// The parameter at is the time of the event.
func Raise(ctx context.Context, to task.Sender, queue, key string, size int64, at time.Time) error {
	if err := to.Send(ctx, queue, S3Event("", key, size, at), 0); err != nil {
		return fmt.Errorf("cannot raise the event of %s: %w", key, err)
	}
	return nil
}

// Limits of one SQS message.
const (
	MaxBody  = 256 << 10        // greatest size of the body in bytes
	MaxDelay = 15 * time.Minute // greatest time from sending a message to its first delivery
)

// SQS sends messages to SQS. It is safe for concurrent use.
type SQS struct {
	client *sqs.Client
	urls   map[string]string
}

// NewSQS returns a sender to queues. The parameter urls maps the name of each queue to its URL. The
// map must not change afterwards.
func NewSQS(client *sqs.Client, urls map[string]string) *SQS {
	return &SQS{client: client, urls: urls}
}

// Send sends a body of at most MaxBody bytes to the named queue, to be delivered
// after the delay: rounded up to whole seconds, and cut to MaxDelay. After an
// error the message may have been sent nevertheless.
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

// subject returns attributes for the log that identify a message. These are its queue and, as far as
// its body names them, an object's key, a partition, a batch of URLs, a crawl partition and a host.
func subject(m events.SQSMessage) []slog.Attr {
	var attrs []slog.Attr
	if m.EventSourceARN != "" {
		attrs = append(attrs, slog.String("queue", m.EventSourceARN[strings.LastIndex(m.EventSourceARN, ":")+1:]))
	}
	if keys, err := s3Keys(m.Body); err == nil && len(keys) > 0 {
		return append(attrs, ofKey(keys[0])...)
	}
	var body struct { // fields of batch.Batch, task.Lease and task.Gather
		Version *layout.Version
		Storage *layout.Partition
		Crawl   *int
		Host    string
	}
	if len(m.Body) > MaxBody || json.Unmarshal([]byte(m.Body), &body) != nil {
		return attrs
	}
	if body.Storage != nil {
		attrs = append(attrs, slog.Any("partition", *body.Storage))
	}
	if body.Version != nil {
		attrs = append(attrs, slog.Any("batch", *body.Version))
	}
	if body.Crawl != nil {
		attrs = append(attrs, slog.Int("crawl", *body.Crawl))
	}
	if body.Host != "" {
		attrs = append(attrs, slog.String("host", body.Host))
	}
	return attrs
}

// ofKey returns attributes for the log: an object's key, and the partition and the batch of URLs
// that the key names.
func ofKey(key string) []slog.Attr {
	attrs := []slog.Attr{slog.String("key", key)}
	if p, batch, err := layout.ParseSpoolKey(key); err == nil {
		return append(attrs, slog.Any("partition", p), slog.Any("batch", batch))
	}
	if p, _, err := layout.ParsePackageKey(key); err == nil {
		return append(attrs, slog.Any("partition", p))
	}
	return attrs
}
