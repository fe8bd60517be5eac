// Package account computes the state of every URL from all books. (Books are objects that record the
// outcomes of requests and the links found.) Each discovered URL is stored, skipped, failed or
// pending, and nothing else. The frontier (the queues of URLs to request) is rebuilt from these
// states; the commands status and verify report them.
//
// All states of a bucket together may need more memory than there is. So Read and Survey return a Bucket,
// which computes them for one range of the hash space of URLs after another. The states of a range are
// an Account.
//
// URLs that takedowns forget (see package takedown) are left out.
package account

import (
	"fmt"
	"iter"
	"math"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// State is the state of a URL in the crawl, such as Pending or Stored.
type State string

// The states of a URL.
const (
	Pending State = "pending"
	Stored  State = "stored"
	Skipped State = "skipped"
	Failed  State = "failed"
)

// URL describes one URL: its state, its last outcomes, and its next request if it is to be requested.
type URL struct {
	Address address.Address
	State   State
	Reason  string       // why the URL is Skipped or Failed
	Final   book.Outcome // last final outcome (one other than Retry); zero if there is none, or the page is lost
	// Page is the outcome with which the page was stored; nil unless State is Stored. It is
	// older than Final if later requests found the page unchanged.
	Page       *book.Outcome
	Discovered bool   // the URL is a seed or the target of a link
	Depth      uint16 // number of links from a seed to the URL
	Hops       uint8  // number of redirects that led from the target of the last link to the URL
	Weight     uint8  // priority: 255 is requested first, 1 last; 0: it has none, and the depth decides (see book.Link)
	Sitemap    bool   // the URL is read as a sitemap
	Asset      bool   // the URL was found only as an asset of pages
	Attempts   uint8  // number of requests since the last final outcome (one other than Retry)
	Collection string // collection for which the URL is requested or, if it is refused, a collection that refuses it
	Admitted   bool   // a collection in force admits the URL; this may be true in any State
	// Apart says why the frontier leaves out an admitted URL, which is then not requested: no rule
	// gives it a partition (membership.NoPartition), or the crawl is limited to other collections
	// or seeds (membership.HeldBack). It is "" for a URL of the frontier.
	Apart string
	// Wanted says that the URL must be requested again now although it has a final outcome.
	// Collection, Depth, Hops and Weight are those of the new request.
	Wanted bool
}

// Account collects outcomes and links, in any order, and computes from them the state of
// each URL. Outcomes and links may be added concurrently.
type Account struct {
	settings *settings.Settings
	within   layout.Range // range of the hash space that has the URLs of the account
	size     atomic.Int64 // number of URLs, plus their further paths (see shard.more)
	shards   [256]*shard  // facts of URLs; the index is the first byte of the URL's identity
	origins  origins
	paces    paces
}

// New returns an account whose only URLs are the seeds and sitemaps of all collections. It fails if
// one of these URLs is malformed.
func New(s *settings.Settings) (*Account, error) { return newAccount(s, layout.Range{}) }

// newAccount returns an account whose only URLs are those seeds and sitemaps that are in the given
// range.
func newAccount(s *settings.Settings, within layout.Range) (*Account, error) {
	a := &Account{settings: s, within: within}
	for i := range a.shards {
		a.shards[i] = newShard(s.Takedowns, &a.size)
	}
	for _, c := range s.Collections {
		if err := a.begin(c); err != nil {
			return nil, fmt.Errorf("collection %s: %w", c.Name, err)
		}
	}
	return a, nil
}

// Range returns the range of the hash space that has the URLs of the account.
func (a *Account) Range() layout.Range { return a.within }

// Forgotten yields the identities of those URLs in the outcomes and links that takedowns forget, and that All
// therefore leaves out. Nothing may be added to the account meanwhile.
func (a *Account) Forgotten() iter.Seq[layout.Identity] {
	return func(yield func(layout.Identity) bool) {
		for _, s := range a.shards {
			for id, f := range s.urls {
				if f == nil && !yield(id) {
					return
				}
			}
		}
	}
}

// begin adds those seeds and sitemaps of a collection to the account that are in its range.
func (a *Account) begin(c collection.Collection) error {
	seed := reach{by: a.origins.number(origin{collection: c.Name})}
	if c.Topic != nil {
		seed.weight = math.MaxUint8
	}
	for _, s := range c.Seeds {
		at, err := collection.ParseSeed(s.URL)
		if err != nil {
			return err
		}
		a.begins(at, seed)
	}
	for _, url := range c.Sitemaps {
		at, err := address.Parse(url)
		if err != nil {
			return fmt.Errorf("sitemap: %w", err)
		}
		a.begins(at, reach{by: a.origins.number(origin{c.Name, book.Sitemap})})
	}
	return nil
}

func (a *Account) begins(at address.Address, by reach) {
	if a.within.Contains(at.Place) {
		a.of(at.ID).reach(at.ID, at.URL, by)
	}
}

// Outcome adds the outcome o of a request for a URL to the account.
func (a *Account) Outcome(o book.Outcome) {
	id := o.Identity()
	a.of(id).outcome(id, o)
	if o.Pace == (book.Pace{}) {
		return
	}
	if at, err := address.Parse(o.URL); err == nil && !a.settings.Takedowns.Forgets(at) { // All reports a malformed URL
		a.paces.add(at, o)
	}
}

// Link adds a link of a page to the account: one more path to the link's target.
func (a *Account) Link(l book.Link) {
	a.Target(book.Target{URL: l.Target, ID: layout.IdentityOf(l.Target), Kind: l.Kind, Depth: l.Depth, Hops: l.Hops, Weight: l.Weight, Collection: l.Collection})
}

// Target adds one more path to a URL. The path is described by a row of a book, which stands for
// links to the URL from one or more pages.
func (a *Account) Target(t book.Target) {
	path := reach{by: anAsset}
	if t.Kind != book.Asset || a.settings.WantAssets(t.Collection) {
		path = reach{a.origins.number(originOf(t.Collection, t.Kind)), t.Depth, t.Hops, t.Weight}
	}
	a.of(t.ID).reach(t.ID, t.URL, path)
}

func (a *Account) of(id layout.Identity) *shard { return a.shards[id[0]] }
