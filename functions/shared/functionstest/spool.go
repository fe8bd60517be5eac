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

// Outcome returns a book's record of what became of a request for a URL. The record says that the
// batch v made the request, for the test collection, and that the URL is now in the given state.
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

// Link returns a link from one page to another, of the kind that an <a> element makes. The link was
// found for the collection Collection. depth is the number of links from a seed to the target.
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

// Spool returns the bytes of the spool object of a batch. The object has the given ledger, and a page
// for each outcome of state Stored in the ledger. The function Page makes these pages.
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

// Open opens empty frontiers (queues of URLs in Redis) for all crawl partitions, in the given epoch.
func Open(t testing.TB, rdb redis.UniversalClient, s *settings.Settings, epoch uint64) {
	t.Helper()
	for _, crawl := range s.Crawl.Partitions() {
		if err := frontier.New(rdb, crawl).Open(t.Context(), epoch, s.Fingerprint(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// Admit adds URLs as pending, at depth 1, to the frontiers (queues in Redis) of the crawl
// partitions to which they belong.
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

// Counts returns how many URLs of each state the frontier (queues in Redis) of a crawl partition
// has.
func Counts(t testing.TB, rdb redis.UniversalClient, crawl int) frontier.Counts {
	t.Helper()
	counts, err := frontier.New(rdb, crawl).Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// Inbox returns the batches that were fetched and wait to be packed in a storage partition.
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

// Outcomes returns an outcome for each URL, all in the same state, as if the batch v had requested
// the URLs.
func Outcomes(t testing.TB, v layout.Version, state book.State, urls ...string) []book.Outcome {
	t.Helper()
	var all []book.Outcome
	for _, url := range urls {
		all = append(all, Outcome(t, v, url, state))
	}
	return all
}

// Frontier is what tests compare of the frontier (queues in Redis) of a crawl partition: the epoch
// in which it was built, and the identities (hashes) of the pending URLs.
type Frontier struct {
	Epoch   uint64
	Pending []string
}

// ReadFrontier reads the frontier (queues in Redis) of a crawl partition. The test fails unless the
// frontier was built under the given settings.
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

// Lease leases the next batch of URLs of a crawl partition for an hour. The test fails if no URL
// can be leased.
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

// LearnSite commits a book (outcomes of requests, and links) about the pages of a site. The seed links to
// the pages failed, retried and new of the site, and to all addresses in the parameter elsewhere. The book
// has these outcomes:
//
//	page       batch   outcome
//	seed       1       skipped
//	failed     1       failed
//	retried    2       to be requested again
//
// The other pages have no outcome: nobody has requested them yet.
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
