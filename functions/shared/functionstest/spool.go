package functionstest

import (
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Outcome returns the outcome of a request for a URL by the batch v, on behalf of
// Collection.
func Outcome(t testing.TB, v layout.Version, url string, state book.State) book.Outcome {
	t.Helper()
	a, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	o := book.Outcome{Version: v, URL: a.URL, Place: a.Place, State: state, Attempts: 1, Time: Start, Collections: []string{Collection}}
	switch state {
	case book.Stored:
		o.Status = 200
	case book.Skipped, book.Failed, book.Retry:
		o.Reason = "test"
	}
	return o
}

// Link returns an anchor link from one page to another, found for Collection. depth is that of
// the target.
func Link(t testing.TB, from, to string, depth uint16) book.Link {
	t.Helper()
	a, err := address.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	return book.Link{
		Source: layout.IdentityOf(from), Target: a.URL, Place: a.Place,
		Kind: book.Anchor, Region: book.Text, Depth: depth, Collection: Collection,
	}
}

// HTML returns a page with these words in its title and its body.
func HTML(words string) string {
	return "<!doctype html><title>" + words + "</title><p>" + words + "</p>"
}

// Spool returns the encoded spool object of a ledger, with pages that Page makes for its
// outcomes of state Stored.
func Spool(t testing.TB, ledger spool.Ledger) []byte {
	t.Helper()
	object := spool.Spool{Ledger: ledger}
	compressor := webobject.NewCompressor(webobject.DefaultLevel)
	for i, o := range ledger.Outcomes {
		if o.State != book.Stored {
			continue
		}
		run, err := compressor.Compress(Page(o.Version, o.URL))
		if err != nil {
			t.Fatal(err)
		}
		object.Pages = append(object.Pages, spool.Page{Outcome: i, Run: run})
	}
	content, err := spool.Encode(object)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Put stores an object.
func Put(t testing.TB, bucket blob.Bucket, key string, content []byte) {
	t.Helper()
	if err := bucket.Create(t.Context(), key, content); err != nil {
		t.Fatal(err)
	}
}

// Keys returns the keys of all objects with a prefix.
func Keys(t testing.TB, bucket blob.Reader, prefix string) []string {
	t.Helper()
	var keys []string
	for object, err := range bucket.List(t.Context(), prefix, "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, object.Key)
	}
	return keys
}

// Open opens the empty frontiers of all crawl partitions in an epoch.
func Open(t testing.TB, rdb redis.UniversalClient, s *settings.Settings, epoch uint64) {
	t.Helper()
	for _, crawl := range s.Crawl.Partitions() {
		if err := frontier.New(rdb, crawl).Open(t.Context(), epoch, s.Fingerprint(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// Admit adds URLs to the frontiers of their crawl partitions as pending, at depth 1.
func Admit(t testing.TB, rdb redis.UniversalClient, s *settings.Settings, urls ...string) {
	t.Helper()
	for _, url := range urls {
		a, err := address.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		crawl, err := s.Crawl.Decide(a)
		if err != nil {
			t.Fatal(err)
		}
		entry := frontier.Entry{URL: a.URL, ID: a.ID, Host: a.Host, Depth: 1, Collection: Collection}
		if _, err := frontier.New(rdb, crawl).Admit(t.Context(), Start, []frontier.Entry{entry}); err != nil {
			t.Fatal(err)
		}
	}
}

// Counts returns the counts of a crawl partition's frontier.
func Counts(t testing.TB, rdb redis.UniversalClient, crawl int) frontier.Counts {
	t.Helper()
	counts, err := frontier.New(rdb, crawl).Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// Inbox returns the batches of a storage partition that wait to be packed.
func Inbox(t testing.TB, rdb redis.UniversalClient, p layout.Partition) []layout.Version {
	t.Helper()
	waiting, err := frontier.NewInbox(rdb, p).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var batches []layout.Version
	for _, w := range waiting {
		batches = append(batches, w.Batch)
	}
	return batches
}

// Outcomes returns an outcome of the batch v for each URL, all of one state.
func Outcomes(t testing.TB, v layout.Version, state book.State, urls ...string) []book.Outcome {
	t.Helper()
	var all []book.Outcome
	for _, url := range urls {
		all = append(all, Outcome(t, v, url, state))
	}
	return all
}

// Frontier is the part of a crawl partition's frontier that tests compare: its epoch and
// the identities of the pending URLs.
type Frontier struct {
	Epoch   uint64
	Pending []string
}

// ReadFrontier reads the frontier of a crawl partition. The test fails unless it was built
// under the settings s.
func ReadFrontier(t testing.TB, rdb redis.UniversalClient, s *settings.Settings, crawl int) (f Frontier) {
	t.Helper()
	front := frontier.New(rdb, crawl)
	var err error
	if f.Epoch, err = front.Epoch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := front.Built(t.Context(), s.Fingerprint()); err != nil {
		t.Fatal(err)
	}
	for id, err := range front.Pending(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		f.Pending = append(f.Pending, id.String())
	}
	slices.Sort(f.Pending)
	return f
}

// Lease leases a batch of a crawl partition for an hour. The test fails if nothing can be
// leased.
func Lease(t testing.TB, rdb redis.UniversalClient, crawl int, now time.Time) frontier.Lease {
	t.Helper()
	leased, ok, err := frontier.New(rdb, crawl).Lease(t.Context(), frontier.Request{
		Now: now, Deadline: now.Add(time.Hour), Max: 10, MaxBytes: 1 << 10, Connections: 10,
	})
	if err != nil || !ok {
		t.Fatalf("leased %v, %v", ok, err)
	}
	return leased
}

// LearnSite commits a book about a site with these outcomes, of batches 1 and 2: the seed was
// skipped, the page "failed" has failed, and "retried" is to be requested again. The book has links
// from the seed to both pages, to a page "new", and to the addresses elsewhere.
func LearnSite(t testing.TB, bucket blob.Bucket, p layout.Partition, seed string, elsewhere ...string) {
	t.Helper()
	first, second := layout.Version{Epoch: 1, Token: 1}, layout.Version{Epoch: 1, Token: 2}
	retried := Outcome(t, second, seed+"retried", book.Retry)
	retried.Depth, retried.Attempts = 1, 2
	learnt := book.Book{Outcomes: []book.Outcome{Outcome(t, first, seed, book.Skipped), Outcome(t, first, seed+"failed", book.Failed), retried}}
	for _, to := range append([]string{seed + "failed", seed + "retried", seed + "new"}, elsewhere...) {
		learnt.Links = append(learnt.Links, Link(t, seed, to, 1))
	}
	Learn(t, bucket, p, learnt)
}
