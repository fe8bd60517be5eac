package schedule

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

const site = "http://a.example/"

// world is a schedule function with Redis and settings.
type world struct {
	*Function
	t       *testing.T
	clock   *functionstest.Clock
	sender  *functionstest.Sender
	inForce *settings.Settings
}

// newWorld returns a world whose crawl is not new: its batches have full size (see Function.fit).
func newWorld(t *testing.T, rdb redis.UniversalClient, change func(*collection.Collection)) *world {
	t.Helper()
	w := newCrawl(t, rdb, change)
	var decided []frontier.Known
	for i := range batch.MaxTargets {
		at := w.parse(fmt.Sprint("http://old.example/", i))
		decided = append(decided, frontier.Known{ID: at.ID, Place: at.Place, Version: layout.Version{Epoch: 1}, State: book.Skipped})
	}
	if err := frontier.New(rdb, 0).Mark(t.Context(), decided); err != nil {
		t.Fatal(err)
	}
	return w
}

// newCrawl returns a world in which no URL is decided yet.
func newCrawl(t *testing.T, rdb redis.UniversalClient, change func(*collection.Collection)) *world {
	t.Helper()
	bucket, clock, sender := memblob.New(), functionstest.NewClock(), new(functionstest.Sender)
	w := &world{
		t: t, clock: clock, sender: sender,
		inForce: functionstest.Publish(t, bucket, 1, change, site),
		Function: &Function{
			Settings: &settings.Cache{Bucket: bucket, Now: clock.Now, Age: time.Hour},
			Redis:    rdb, Sender: sender, Now: clock.Now, Limits: DefaultLimits(),
			Agent: "testbot/1.0", Log: functionstest.Log(),
		},
	}
	functionstest.Open(t, rdb, w.inForce, 1)
	return w
}

// admit enters n new URLs of the site into the frontier, each with the given query.
func (w *world) admit(n int, query string) {
	w.t.Helper()
	var urls []string
	for i := range n {
		urls = append(urls, fmt.Sprintf("%s%d%s", site, i, query))
	}
	functionstest.Admit(w.t, w.Redis, w.inForce, urls...)
}

// run runs the function schedule once, and returns the batches that it sent.
func (w *world) run() []batch.Batch {
	w.t.Helper()
	if err := w.Run(w.t.Context(), task.Lease{}); err != nil {
		w.t.Fatal(err)
	}
	return w.sent()
}

func (w *world) sent() []batch.Batch {
	w.t.Helper()
	var batches []batch.Batch
	for _, m := range w.sender.Take() {
		var b batch.Batch
		if err := json.Unmarshal([]byte(m.Body), &b); err != nil || m.Queue != task.Fetch || m.Delay != 0 {
			w.t.Fatalf("sent to %s after %v: %v", m.Queue, m.Delay, err)
		}
		if len(m.Body) > batch.MaxBytes {
			w.t.Errorf("a message of %d bytes", len(m.Body))
		}
		batches = append(batches, b)
	}
	return batches
}

// publish publishes a further collection, which requires no delay between requests. The given
// function may change the collection before.
func (w *world) publish(name string, change func(*collection.Collection)) {
	w.t.Helper()
	c := collection.Collection{
		Name: name, HostConnections: 1, Agent: w.Agent,
		Seeds: []collection.Seed{{URL: site, Scope: collection.Any, Depth: collection.Unlimited}},
	}
	w.inForce = functionstest.Republish(w.t, w.bucket(), c, change)
}

// enter puts a new URL into the frontier, with the fields of e.
func (w *world) enter(e frontier.Entry) {
	w.t.Helper()
	a := w.parse(e.URL)
	e.URL, e.ID, e.Host = a.URL, a.ID, a.Host
	if _, err := frontier.New(w.Redis, 0).Admit(w.t.Context(), w.clock.Now(), []frontier.Entry{e}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) parse(url string) address.Address {
	w.t.Helper()
	a, err := address.Parse(url)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// settle enters the outcomes of a batch in the frontier: all its pages are stored, except denied
// ones.
func (w *world) settle(b batch.Batch) {
	w.t.Helper()
	s := frontier.Settlement{Version: b.Version, Host: b.Host, Ended: w.clock.Now()}
	for _, target := range b.Targets {
		at := w.parse(target.URL)
		r := frontier.Result{ID: at.ID, Place: at.Place, State: book.Stored}
		if target.Denied != "" {
			r.State = book.Skipped
		} else if !target.Sitemap {
			r.Tallies = w.inForce.Tallies(book.Outcome{Collections: target.Collections}, at)
		}
		s.Outcomes = append(s.Outcomes, r)
	}
	if _, err := frontier.New(w.Redis, b.Crawl).Settle(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

// deniedIn returns for each target of the batches, by its URL, the reason why it is denied; "" if
// it is not.
func deniedIn(batches []batch.Batch) map[string]string {
	reasons := make(map[string]string)
	for _, b := range batches {
		for _, target := range b.Targets {
			reasons[target.URL] = target.Denied
		}
	}
	return reasons
}

// sizes returns the number of targets of each batch.
func sizes(batches []batch.Batch) []int {
	var all []int
	for _, b := range batches {
		all = append(all, len(b.Targets))
	}
	return all
}
