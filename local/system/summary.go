package system

import (
	"context"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Summary is what a crawl has brought.
type Summary struct {
	Status
	New   int    // pages stored since it began
	Seeds []Fate // of the seeds of this crawl
}

// Fate is what became of a seed.
type Fate struct {
	Seed  string
	Final account.URL // the seed, or where its redirects led
}

// Stored reports whether the seed led to a page.
func (f Fate) Stored() bool { return f.Final.State == account.Stored }

// Redirected reports whether the seed led elsewhere.
func (f Fate) Redirected() bool { return f.Final.Address.URL != f.Seed }

// Summarize reads what a crawl of these seeds has brought since it began.
func (s *System) Summarize(ctx context.Context, seeds []collection.Seed, began time.Time) (Summary, error) {
	books, err := readBooks(ctx, s.Bucket)
	if err != nil {
		return Summary{}, err
	}
	var summary Summary
	began = began.Truncate(time.Millisecond)
	near := make(map[layout.Identity]account.URL) // seeds, and where they redirect
	summary.Status, err = statusOf(books, s.Requests(), func(u account.URL) {
		if u.Final.State == book.Stored && !u.Final.Time.Before(began) {
			summary.New++
		}
		if u.Depth == 0 {
			near[u.Address.ID] = u
		}
	})
	if err != nil {
		return Summary{}, err
	}
	for _, seed := range seeds {
		fate, err := fateOf(near, seed.URL)
		if err != nil {
			return Summary{}, err
		}
		summary.Seeds = append(summary.Seeds, fate)
	}
	return summary, nil
}

// fateOf follows the redirects of a seed.
func fateOf(known map[layout.Identity]account.URL, seed string) (Fate, error) {
	at, err := collection.ParseSeed(seed)
	if err != nil {
		return Fate{}, err
	}
	fate := Fate{Seed: at.URL, Final: account.URL{Address: at, State: account.Pending}}
	for range collection.MaxHops + 1 {
		u, found := known[at.ID]
		if !found {
			break
		}
		fate.Final = u
		to, redirected := redirectOf(u)
		if !redirected {
			break
		}
		at = to
	}
	return fate, nil
}

// redirectOf returns where a URL led, which its outcome says in words; a very
// long address is cut short there and leads nowhere.
func redirectOf(u account.URL) (address.Address, bool) {
	to, found := strings.CutPrefix(u.Final.Detail, "to ")
	if u.State != account.Skipped || u.Final.Reason != "redirect" || !found {
		return address.Address{}, false
	}
	target, err := address.Parse(to)
	return target, err == nil
}
