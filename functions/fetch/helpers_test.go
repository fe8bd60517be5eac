package fetch

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// clock is a clock for tests. It advances only when Sleep is called, by the duration of the sleep.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

// world is a fetch function for tests, with the web server that it requests, a bucket and settings.
type world struct {
	*Function
	bucket *memblob.Bucket
	clock  *clock
	server *httptest.Server
}

func newWorld(t testing.TB, handler http.Handler) *world {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	transport := Transport(true)
	t.Cleanup(transport.CloseIdleConnections)
	bucket, ticks := memblob.New(), &clock{now: start}
	w := &world{
		Function: &Function{
			Bucket: bucket, Transport: transport, Now: ticks.Now, Sleep: ticks.Sleep,
			Agent: "bucketsearch-test", Worker: "w1", Limits: DefaultLimits(),
			Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		},
		bucket: bucket, clock: ticks, server: server,
	}
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		if err := rules.Publish(t.Context(), bucket, rules.Even(kind, 1, start)); err != nil {
			t.Fatal(err)
		}
	}
	w.publish(t, collection.Collection{Name: "c"})
	return w
}

// publish publishes a collection. Without seeds the collection admits the whole web.
func (w *world) publish(t testing.TB, c collection.Collection) {
	t.Helper()
	c.HostConnections, c.Agent = 1, cmp.Or(c.Agent, w.Agent)
	if c.Seeds == nil {
		c.Seeds = []collection.Seed{{URL: "http://seed.test/", Scope: collection.Any, Depth: collection.Unlimited}}
	}
	if _, err := collection.Publish(t.Context(), w.bucket, c); err != nil {
		t.Fatal(err)
	}
	w.Settings = &settings.Cache{Bucket: w.bucket, Now: w.clock.Now, Age: time.Hour}
}

// another returns a fetch function as another process would have it: with the same exported fields,
// but without the caches and records of earlier batches.
func (w *world) another() *Function {
	return &Function{
		Bucket: w.Bucket, Settings: w.Settings, Transport: w.Transport, Now: w.Now, Sleep: w.Sleep,
		Agent: w.Agent, Worker: w.Worker, Limits: w.Limits, Log: w.Log,
	}
}

// batch returns a batch of targets on the server.
func (w *world) batch(paths ...string) batch.Batch {
	b := batch.Batch{Version: layout.Version{Epoch: 1, Token: 7}, Crawl: 2, Storage: 3, Host: "h", Deadline: start.Add(time.Minute)}
	for _, path := range paths {
		b.Targets = append(b.Targets, batch.Target{URL: w.server.URL + path, Depth: 4, Exponent: 3, Collections: []string{"c"}})
	}
	return b
}

// run fetches a batch and returns the spool object that it put, with its outcomes in the order of
// the targets.
func (w *world) run(t testing.TB, b batch.Batch) spool.Spool {
	t.Helper()
	if err := w.Run(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return w.stored(t, b)
}

// stored returns what the run of a batch stored, with the outcomes in the order of its targets.
func (w *world) stored(t testing.TB, b batch.Batch) spool.Spool {
	t.Helper()
	s, err := spool.Read(t.Context(), w.bucket, layout.SpoolKey(b.Storage, b.Version))
	if err != nil {
		t.Fatal(err)
	}
	order := map[string]int{}
	for i, target := range b.Targets {
		order[target.URL] = i
	}
	slices.SortStableFunc(s.Ledger.Outcomes, func(x, y book.Outcome) int { return order[x.URL] - order[y.URL] })
	return s
}

// end is the final state of a URL, with its reason. Tests compare outcomes by it.
type end struct {
	State  book.State
	Reason string
}

func ends(s spool.Spool) []end {
	var all []end
	for _, o := range s.Ledger.Outcomes {
		all = append(all, end{o.State, o.Reason})
	}
	return all
}

func respond(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}
