package fetch

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

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
		b.Version.Token, b.Host = b.Version.Token+uint64(i), w.server.Listener.Addr().String()
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

// TestBatchesShareMemory fetches a batch of two pages. Which of them are requested depends on the bytes of
// the batch's own first page and of the pages of other batches.
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
		"no room at all":                        {together: 2000, others: 2000, want: []end{{book.NotAsked, ""}, {book.NotAsked, ""}}},
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

// TestBatchWaitsForRoom: a batch that has received nothing waits while pages of other batches take the memory. It
// is fetched when there is room.
func TestBatchWaitsForRoom(t *testing.T) {
	w := newWorld(t, respond(200, "text/html", "<p>text"))
	w.held.Store(w.Limits.Together)
	w.Sleep = func(ctx context.Context, d time.Duration) error {
		w.held.Store(0) // another batch ends meanwhile
		return w.clock.Sleep(ctx, d)
	}
	if diff := cmp.Diff([]end{{book.Stored, ""}}, ends(w.run(t, w.batch("/")))); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

// TestLargePagesShareMemory requests a small page, then a large one. The large one is read only if fewer than
// maxLarge others are being read, and if the memory is not full by then. Otherwise it stays "not asked", and is
// requested again another time.
func TestLargePagesShareMemory(t *testing.T) {
	stored, notAsked := end{book.Stored, ""}, end{book.NotAsked, ""}
	for name, test := range map[string]struct {
		size   int // bytes of the second page
		reads  int // number of large bodies that others read
		others int64
		want   end
	}{
		"few large ones":           {size: 4 * maxSmall, reads: maxLarge - 1, want: stored},
		"too many large ones":      {size: 4 * maxSmall, reads: maxLarge, want: notAsked},
		"a small one beside many":  {size: maxSmall / 2, reads: maxLarge, want: stored},
		"memory that becomes full": {size: 4 * maxSmall, others: DefaultLimits().Together, want: notAsked},
		"a small one in no room":   {size: maxSmall / 2, others: DefaultLimits().Together, want: stored},
	} {
		t.Run(name, func(t *testing.T) {
			var w *world
			w = newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Type", "text/plain")
				if r.URL.Path == "/small" {
					_, _ = io.WriteString(rw, "text")
					return
				}
				w.held.Add(test.others)
				_, _ = io.WriteString(rw, strings.Repeat("word ", test.size)[:test.size])
			}))
			if test.reads == maxLarge {
				w.Limits.Request = 2 * time.Second // as long as the large page waits
			}
			for range test.reads {
				leave, err := w.enterLarge(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer leave()
			}
			if diff := cmp.Diff([]end{stored, test.want}, ends(w.run(t, w.batch("/small", "/large")))); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
			if got := len(w.large.places); got != test.reads {
				t.Errorf("%d large bodies are being read after the batch, want %d", got, test.reads)
			}
		})
	}
}
