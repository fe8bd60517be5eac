package message_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

func TestS3Keys(t *testing.T) {
	record := func(name, key string) string {
		return `{"eventName":"` + name + `","s3":{"object":{"key":"` + key + `"}}}`
	}
	tests := []struct {
		name, body string
		want       []string
		err        string
	}{
		{"put", `{"Records":[` + record("ObjectCreated:Put", "spool/1/a.spool") + `]}`, []string{"spool/1/a.spool"}, ""},
		{"prefixed name", `{"Records":[` + record("s3:ObjectCreated:CompleteMultipartUpload", "a") + `]}`, []string{"a"}, ""},
		{"escaped key", `{"Records":[` + record("ObjectCreated:Put", "a+b%2Bc%C3%A9%2Fd") + `]}`, []string{"a b+cé/d"}, ""},
		{"several, others passed over", `{"Records":[` + record("ObjectCreated:Put", "a") + `,` +
			record("ObjectRemoved:Delete", "b") + `,` + record("ObjectCreated:Copy", "c") + `]}`, []string{"a", "c"}, ""},
		{"no records", `{"Records":[]}`, nil, ""},
		{"test event", `{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2014-10-13T15:57:02.089Z","Bucket":"b"}`, nil, ""},
		{"records missing", `{}`, nil, "it has no Records"},
		{"records null", `{"Records":null}`, nil, "it has no Records"},
		{"no JSON", `Records`, nil, "invalid character"},
		{"empty", ``, nil, "unexpected end"},
		{"bad escape", `{"Records":[` + record("ObjectCreated:Put", "%zz") + `]}`, nil, `record 0: invalid URL escape "%zz"`},
		{"no key", `{"Records":[{"eventName":"ObjectCreated:Put"}]}`, nil, "record 0: it has no object key"},
		{"too long", strings.Repeat(" ", message.MaxBody) + `{}`, nil, "262146 bytes are more than the 262144"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := message.S3Keys(tt.body)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

func TestS3EventIsWhatAWSDelivers(t *testing.T) {
	at := time.Date(2026, 11, 21, 1, 2, 3, 456_789_000, time.FixedZone("", 3600))
	body := message.S3Event("bucket", "spool/0001/a b+c.spool", 42, at)
	var event events.S3Event
	if err := json.Unmarshal(body, &event); err != nil {
		t.Fatal(err)
	}
	r := event.Records[0]
	got := []any{r.EventSource, r.EventName, r.EventTime, r.S3.Bucket.Name, r.S3.Object.Key, r.S3.Object.URLDecodedKey, r.S3.Object.Size}
	want := []any{"aws:s3", "ObjectCreated:Put", time.Date(2026, 11, 21, 0, 2, 3, 456_000_000, time.UTC),
		"bucket", "spool/0001/a+b%2Bc.spool", "spool/0001/a b+c.spool", int64(42)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func FuzzS3Keys(f *testing.F) {
	f.Add(string(message.S3Event("b", "packages/0001/2_0_20260101000000000.spf", 1, time.UnixMilli(0))))
	f.Add(`{"Event":"s3:TestEvent"}`)
	f.Add(`{"Records":[{"eventName":"s3:ObjectCreated:Put","s3":{"object":{"key":"a%2"}}}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		keys, err := message.S3Keys(body)
		if err != nil && keys != nil {
			t.Fatalf("keys %q beside the error %v", keys, err)
		}
		for _, key := range keys {
			again, err := message.S3Keys(string(message.S3Event("b", key, 0, time.UnixMilli(0))))
			if err != nil {
				t.Fatalf("key %q does not come back: %v", key, err)
			}
			if diff := cmp.Diff([]string{key}, again); diff != "" {
				t.Fatalf("key does not come back (-want +got):\n%s", diff)
			}
		}
	})
}

func TestSendAsksSQS(t *testing.T) {
	tests := []struct{ name, md5, err string }{
		{"sent", "9dd4e461268c8034f5c8564e155c67a6", ""}, // of "x"
		{"garbled on the way", "415290769594460e2e485922904f345d", "checksum"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var target string
			var asked map[string]any
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				target = r.Header.Get("X-Amz-Target")
				if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
					t.Error(err)
				}
				w.Header().Set("Content-Type", "application/x-amz-json-1.0")
				fmt.Fprintf(w, `{"MessageId":"1","MD5OfMessageBody":%q}`, tt.md5)
			}))
			defer server.Close()
			client := sqs.New(sqs.Options{
				Region:       "local",
				BaseEndpoint: aws.String(server.URL),
				Credentials:  credentials.NewStaticCredentialsProvider("key", "secret", ""),
			})
			sender := message.NewSQS(client, map[string]string{"fetch": "https://sqs/1/prod-fetch"})
			err := sender.Send(t.Context(), "fetch", []byte("x"), 1500*time.Millisecond)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if target != "AmazonSQS.SendMessage" {
				t.Errorf("asked for %q", target)
			}
			want := map[string]any{"QueueUrl": "https://sqs/1/prod-fetch", "MessageBody": "x", "DelaySeconds": 2.0}
			if diff := cmp.Diff(want, asked); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}
