package message

import (
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/layout"
)

// subject returns what a message is about, as far as its queue and body say:
// queue, key, partition, batch, crawl partition, host.
func subject(m events.SQSMessage) []slog.Attr {
	var attrs []slog.Attr
	if m.EventSourceARN != "" {
		attrs = append(attrs, slog.String("queue", m.EventSourceARN[strings.LastIndex(m.EventSourceARN, ":")+1:]))
	}
	if keys, err := s3Keys(m.Body); err == nil && len(keys) > 0 {
		return append(attrs, ofKey(keys[0])...)
	}
	var body struct { // of batch.Batch, task.Lease or task.Gather
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

// ofKey returns an object's key and what it says.
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
