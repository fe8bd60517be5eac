package cloud

import (
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/layout"
	accounts "github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// takeUp starts a new stack, with an empty Redis, on a bucket that is there already. It is below dir, where another
// stack has had its object store. No function of that stack may run any more.
func takeUp(t *testing.T, dir, bucket string) (*Cloud, *lines) {
	t.Helper()
	rdb := redistest.Cluster(t, 1)
	// Nobody fetches. A sweep that does not know this lets all hosts rest for two minutes, in which fetches end.
	if err := frontier.Tell(t.Context(), rdb, nil); err != nil {
		t.Fatal(err)
	}
	return startWith(t, Options{Dir: dir, Redis: rdb.Options().Addrs[0], Parameters: map[string]string{"ExistingBucket": bucket}})
}

// A stack is deleted in the middle of its crawl. Its bucket stays, and a new stack on it goes on: it fetches what is
// missing, and nothing that the bucket has already. It learns of new objects by EventBridge.
func TestStackIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), serveSite(t, 12, 8)
	first, said := startWith(t, Options{Dir: dir})
	first.publish(t, 0, s.origin+"/")
	hangs := s.hangAfter(150)
	if err := first.Tick("SweepClock"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-hangs:
	case <-time.After(most):
		t.Fatalf("the crawl did not come far:\n%s", said.take())
	}
	first.Close()
	s.resume()

	again, said := takeUp(t, dir, first.bucket)
	had := again.decided(t)
	if len(had) == 0 || len(had) >= len(s.pages) {
		t.Fatalf("the bucket of the deleted stack has %d of %d pages", len(had), len(s.pages))
	}
	if report := again.finish(t, said, s); !report.Sound() {
		t.Errorf("problems: %+v", report.Problems)
	}
	for path, times := range s.asked {
		if times > 1 && had[s.origin+path] {
			t.Errorf("%s was in the bucket, and was requested %d times", path, times)
		}
	}
	used := again.meter.bill()
	t.Logf("used by the second stack\n%s", used.table(mustReadPrices(t), len(s.pages)-len(had)))
	if used[eventsService].Messages == 0 || used[s3Service].Messages > 0 {
		t.Errorf("messages of EventBridge: %+v, of S3: %+v", used[eventsService], used[s3Service])
	}
}

// decided returns the URLs that are not pending, by the books and the spool of the bucket.
func (c *Cloud) decided(t *testing.T) map[string]bool {
	t.Helper()
	inForce, err := settings.Read(t.Context(), c.Bucket, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	books, err := accounts.Read(t.Context(), c.Bucket, inForce)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]bool)
	for u, err := range books.All(t.Context(), layout.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		if u.State != accounts.Pending {
			all[u.Address.URL] = true
		}
	}
	return all
}

// finish makes the sweep tick, and waits until all pages of the site are indexed. Then each page must be found by its
// word. The result is what verify reports at the end, which must be that all pages are stored.
func (c *Cloud) finish(t *testing.T, said *lines, s *site) verify.Report {
	t.Helper()
	if err := c.Tick("SweepClock"); err != nil {
		t.Fatal(err)
	}
	c.await(t, said, func() (bool, error) { return c.indexed(t.Context(), len(s.pages)) })
	for path, word := range s.words {
		if found := strings.Join(c.search(t, word), " "); found != s.origin+path {
			t.Errorf("%s: found %q", path, found)
		}
	}
	report, err := (&verify.Verifier{Bucket: c.Bucket, Now: time.Now()}).Run(t.Context())
	if err != nil || report.Stored != len(s.pages) || report.Pending > 0 {
		t.Errorf("verified: %+v, %v", report, err)
	}
	c.mustBeSound(t, said)
	return report
}
