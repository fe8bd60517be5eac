package functionstest

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Open opens the empty frontiers of all crawl partitions in an epoch.
func Open(t testing.TB, rdb redis.UniversalClient, s *settings.Settings, epoch uint64) {
	t.Helper()
	for _, crawl := range s.Crawl.Partitions() {
		if err := frontier.New(rdb, crawl).Open(t.Context(), epoch, s.Fingerprint(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// Admit lets URLs wait in their partitions' frontiers, at depth 1.
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

// Counts returns the numbers of a crawl partition's frontier.
func Counts(t testing.TB, rdb redis.UniversalClient, crawl int) frontier.Counts {
	t.Helper()
	counts, err := frontier.New(rdb, crawl).Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// Inbox returns the batches that wait in a storage partition.
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

// Outcomes gives the URLs of a batch one state.
func Outcomes(t testing.TB, v layout.Version, state book.State, urls ...string) []book.Outcome {
	t.Helper()
	var all []book.Outcome
	for _, url := range urls {
		all = append(all, Outcome(t, v, url, state))
	}
	return all
}
