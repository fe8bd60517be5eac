package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// TestSend switches on events to EventBridge twice: the second time nothing is written. A notification of the bucket
// is kept although its queue may be gone.
func TestSend(t *testing.T) {
	t.Parallel()
	const gone = "<Queue>arn:aws:sqs:eu-west-1:000000000000:gone</Queue>"
	stored := `<NotificationConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><QueueConfiguration><Id>one</Id>` + gone +
		`<Event>s3:ObjectCreated:*</Event></QueueConfiguration></NotificationConfiguration>`
	var puts []http.Header
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/pages" || !r.URL.Query().Has("notification") {
			http.NotFound(w, r)
			return
		}
		if r.Method == http.MethodPut {
			content, _ := io.ReadAll(r.Body)
			stored, puts = string(content), append(puts, r.Header)
			return
		}
		_, _ = io.WriteString(w, stored)
	}))
	defer bucket.Close()
	store := s3.New(s3.Options{BaseEndpoint: &bucket.URL, UsePathStyle: true, Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("one", "two", "")})
	for range 2 {
		if err := send(t.Context(), store, "pages"); err != nil {
			t.Fatal(err)
		}
	}
	if len(puts) != 1 || puts[0].Get("X-Amz-Skip-Destination-Validation") != "true" {
		t.Errorf("the configuration was put with %q, want once, without a look at its queues", puts)
	}
	if !strings.Contains(stored, gone) || !strings.Contains(stored, "<EventBridgeConfiguration") {
		t.Errorf("configuration %s", stored)
	}
	if err := send(t.Context(), store, "absent"); err == nil || !strings.Contains(err.Error(), "bucket absent") {
		t.Errorf("an absent bucket gives %v", err)
	}
}
