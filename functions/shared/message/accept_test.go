package message_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

func readEvent(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "events", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestAcceptBucketEvents checks by events as AWS sends them that a function learns the keys of new objects in whatever
// way the bucket is connected with it.
func TestAcceptBucketEvents(t *testing.T) {
	const spooled = "spool/0000/00000001-000000000007.spool"
	for name, want := range map[string][]string{
		"sqs-s3":              {spooled, "packages/0000/a b+c.spf"},
		"s3":                  {spooled, "packages/0000/a b+c.spf"},
		"sqs-sns-s3":          {spooled},
		"sns-s3":              {spooled},
		"sqs-eventbridge":     {"spool/0000/a b+c.spool"},
		"eventbridge":         {"spool/0000/a b+c.spool"},
		"eventbridge-deleted": nil,
		"sqs-test":            nil,
		"sqs-sns-test":        nil,
		"s3-test":             nil,
	} {
		var got []string
		response, err := message.Accept(func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
			if len(event.Records) != 1 {
				t.Errorf("%s: %d messages", name, len(event.Records))
			}
			return message.Each(ctx, slog.New(slog.DiscardHandler), event, func(_ context.Context, body string) error {
				return message.EachKey(body, func(key string) error { got = append(got, key); return nil })
			}), nil
		})(t.Context(), readEvent(t, name))
		if err != nil || len(response.BatchItemFailures) > 0 {
			t.Errorf("%s: %+v, %v", name, response, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: keys (-want +got):\n%s", name, diff)
		}
	}
}

// TestAcceptTasks checks that events of clocks become messages with a task.
func TestAcceptTasks(t *testing.T) {
	type lease struct{ Crawl *int }
	for name, want := range map[string]string{"scheduler": `{"Crawl":0}`, "rule": `{"Crawl":null}`} {
		var got []byte
		_, err := message.Accept(func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
			return message.EachTask(ctx, slog.New(slog.DiscardHandler), event, func(_ context.Context, l lease) (err error) {
				got, err = json.Marshal(l)
				return err
			}), nil
		})(t.Context(), readEvent(t, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: task %s, %v; want %s", name, got, err, want)
		}
	}
}

// TestAcceptReportsFailures checks that SQS gets the ids of failed messages, and that an event from elsewhere fails as a
// whole.
func TestAcceptReportsFailures(t *testing.T) {
	accept := message.Accept(func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		return message.Each(ctx, slog.New(slog.DiscardHandler), event, func(_ context.Context, body string) error {
			if body == `{"crawl": 0}` {
				return nil
			}
			return errors.New("no")
		}), nil
	})
	response, err := accept(t.Context(), readEvent(t, "sqs-batch"))
	content, _ := json.Marshal(response)
	const want = `{"batchItemFailures":[{"itemIdentifier":"2e1424d4-f796-459a-8184-9c92662be6da"}]}`
	if err != nil || string(content) != want {
		t.Errorf("%s, %v; want %s", content, err, want)
	}
	if _, err := accept(t.Context(), readEvent(t, "s3")); err == nil || !strings.Contains(err.Error(), "was not handled") {
		t.Errorf("failed event of S3: %v", err)
	}
}

func TestAcceptRefuses(t *testing.T) {
	for name, test := range map[string]struct{ event, want string }{
		"HTTP request": {string(readEvent(t, "function-url")), "HTTP request"},
		"balancer":     {string(readEvent(t, "alb")), "HTTP request"},
		"stream":       {string(readEvent(t, "kinesis")), `from "aws:kinesis"`},
		"list":         {"[]", "no JSON object"},
		"text":         {`"x"`, "no JSON object"},
		"nothing":      {"null", "no JSON object"},
	} {
		_, err := message.Accept(func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			t.Errorf("%s was handled", name)
			return events.SQSEventResponse{}, nil
		})(t.Context(), json.RawMessage(test.event))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// FuzzAccept checks that no event makes Accept panic, and that one which is accepted has a message.
func FuzzAccept(f *testing.F) {
	files, err := filepath.Glob("testdata/events/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.TrimSpace(content))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		handled := false
		_, err := message.Accept(func(_ context.Context, got events.SQSEvent) (events.SQSEventResponse, error) {
			handled = len(got.Records) > 0
			return events.SQSEventResponse{}, nil
		})(t.Context(), event)
		if err == nil && !handled {
			t.Error("an event without messages was accepted")
		}
	})
}
