package fetch

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

func record(t testing.TB, id string, b batch.Batch) events.SQSMessage {
	t.Helper()
	body, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return events.SQSMessage{MessageId: id, Body: string(body)}
}

// TestHostsAreAskedAtOnce delivers an event with as many batches of different hosts as an event may
// have. No host answers before all of them have been requested. So the batches can only end if they are fetched concurrently.
func TestHostsAreAskedAtOnce(t *testing.T) {
	hosts := task.BatchSize(task.Fetch)
	arrived, all := make(chan struct{}), make(chan struct{})
	go func() {
		for range hosts {
			<-arrived
		}
		close(all)
	}()
	var event events.SQSEvent
	first := newWorld(t, http.NotFoundHandler())
	for i := range hosts {
		w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			arrived <- struct{}{}
			<-all
		}))
		b := w.batch("/")
		b.Version.Token += uint64(i)
		event.Records = append(event.Records, record(t, w.server.URL, b))
	}
	response, err := first.Handle(t.Context(), event)
	if err != nil || len(response.BatchItemFailures) > 0 {
		t.Errorf("failed: %v, %v", response.BatchItemFailures, err)
	}
	for _, r := range event.Records {
		var b batch.Batch
		if err := json.Unmarshal([]byte(r.Body), &b); err != nil {
			t.Fatal(err)
		}
		if _, err := first.bucket.Head(t.Context(), layout.SpoolKey(b.Storage, b.Version)); err != nil {
			t.Errorf("batch %s: %v", b.Version, err)
		}
	}
}

// TestPanicFailsOneMessage lets requests to one host panic: only the message with its batch may
// fail.
func TestPanicFailsOneMessage(t *testing.T) {
	w := newWorld(t, respond(200, "text/html", "<p>"))
	good, bad := w.batch("/"), w.batch("/")
	bad.Version.Token++
	bad.Targets[0].URL = "http://breaks.test/"
	w.Transport = breaking{w.Transport}
	response, err := w.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{record(t, "bad", bad), record(t, "good", good)}})
	if err != nil {
		t.Fatal(err)
	}
	want := []events.SQSBatchItemFailure{{ItemIdentifier: "bad"}}
	if !slices.Equal(want, response.BatchItemFailures) {
		t.Errorf("failed: %v", response.BatchItemFailures)
	}
	if _, err := w.bucket.Head(t.Context(), layout.SpoolKey(good.Storage, good.Version)); err != nil {
		t.Error(err)
	}
}

// breaking is a transport that panics at one host.
type breaking struct{ http.RoundTripper }

func (b breaking) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == "breaks.test" {
		panic("no transport for it")
	}
	return b.RoundTripper.RoundTrip(r)
}

// TestBatchesShareMemory fetches a batch of two pages. Whether the second page is requested depends on
// the bytes of the batch's own first page and of the pages of other batches.
func TestBatchesShareMemory(t *testing.T) {
	text := "<p>" + strings.Repeat("word ", 100)
	first, both := []end{{book.Stored, ""}, {book.NotAsked, ""}}, []end{{book.Stored, ""}, {book.Stored, ""}}
	for name, test := range map[string]struct {
		together, others int64
		want             []end
	}{
		"room for both":                         {together: 2000, want: both},
		"no room beside its own first page":     {together: 10, want: first},
		"no room beside pages of other batches": {together: 2000, others: 1900, want: first},
		"no room at all":                        {together: 2000, others: 2000, want: first},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, respond(200, "text/html", text))
			w.Limits.Together = test.together
			w.held.Store(test.others)
			if diff := cmp.Diff(test.want, ends(w.run(t, w.batch("/1", "/2")))); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
			if got := w.held.Load(); got != test.others {
				t.Errorf("%d bytes are held after the batch, want %d", got, test.others)
			}
		})
	}
}
