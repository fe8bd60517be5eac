package message_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

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
