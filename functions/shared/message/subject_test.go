package message

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
)

func TestSubject(t *testing.T) {
	event := func(key string) string { return string(S3Event("b", key, 1, time.UnixMilli(0))) }
	tests := []struct {
		name, arn, body string
		want            []string
	}{
		{"batch", "arn:aws:sqs:local:0:fetch", `{"version":"00000001-000000000007","crawl":2,"storage":3,"host":"a.example"}`,
			[]string{"queue=fetch", "partition=0003", "batch=00000001-000000000007", "crawl=2", "host=a.example"}},
		{"lease", "arn:aws:sqs:eu:0:prod-schedule", `{"crawl":0}`, []string{"queue=prod-schedule", "crawl=0"}},
		{"gather", "", `{"storage":0}`, []string{"partition=0000"}},
		{"spooled", "", event("spool/0004/00000001-000000000009.spool"),
			[]string{"key=spool/0004/00000001-000000000009.spool", "partition=0004", "batch=00000001-000000000009"}},
		{"packed", "", event("packages/0005/2_0_20260101000000000.spf"),
			[]string{"key=packages/0005/2_0_20260101000000000.spf", "partition=0005"}},
		{"other object", "", event("notes/a"), []string{"key=notes/a"}},
		{"nothing", "", `{}`, nil},
		{"no JSON", "", `fetch`, nil},
		{"other types", "", `{"crawl":"x"}`, nil},
		{"too long", "", `{"crawl":0,"x":"` + strings.Repeat("x", MaxBody) + `"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, a := range subject(events.SQSMessage{EventSourceARN: tt.arn, Body: tt.body}) {
				got = append(got, slog.Attr{Key: a.Key, Value: a.Value}.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
		})
	}
}
