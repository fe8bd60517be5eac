package infra

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The command events switches on events to EventBridge once, and keeps a notification of the bucket although its queue
// may be gone.
func TestEvents(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("aws"); err != nil {
		t.Skip("needs the AWS CLI")
	}
	const gone = "<Queue>arn:aws:sqs:eu-west-1:000000000000:gone</Queue>"
	stored := `<NotificationConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><QueueConfiguration><Id>one</Id>` + gone +
		`<Event>s3:ObjectCreated:*</Event></QueueConfiguration></NotificationConfiguration>`
	var puts []http.Header
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/pages" || r.URL.RawQuery != "notification" {
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
	for range 2 {
		events := exec.CommandContext(t.Context(), "./events", "pages")
		events.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+bucket.URL, "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=one", "AWS_SECRET_ACCESS_KEY=two")
		if said, err := events.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	if len(puts) != 1 || puts[0].Get("X-Amz-Skip-Destination-Validation") != "true" {
		t.Errorf("the configuration was put with %q, want once, without a look at its queues", puts)
	}
	if !strings.Contains(stored, gone) || !strings.Contains(stored, "<EventBridgeConfiguration") {
		t.Errorf("configuration %s", stored)
	}
}
