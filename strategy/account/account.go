// Package account folds books into the state of every URL (law 7): each
// discovered URL is stored, skipped, failed or pending, and nothing else. The
// frontier is rebuilt from this fold; status and verify report it.
//
// What is forgotten (see package takedown) is in no account.
package account

import (
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// State is what is true of a URL.
type State string

// The states of a URL.
const (
	Pending State = "pending"
	Stored  State = "stored"
	Skipped State = "skipped"
	Failed  State = "failed"
)

// URL is the state of one URL.
type URL struct {
	Address    address.Address
	State      State
	Reason     string       // of Skipped and Failed
	Final      book.Outcome // what decided the state, zero when nothing was asked or all of it is lost
	Discovered bool         // a seed, or the target of a link
	Depth      uint16       // links from a seed
	Hops       uint8        // redirects that led here
	Attempts   uint8        // times asked without a final outcome
	Collection string       // that admits the URL
}

// Account folds outcomes and links, in any order. Adding is safe for concurrent
// use.
type Account struct {
	settings    *settings.Settings
	shards      [256]*shard // by the first byte of identities
	collections names
}

// New returns an account that knows the seeds of all collections.
func New(s *settings.Settings) (*Account, error) {
	a := &Account{settings: s}
	for i := range a.shards {
		a.shards[i] = newShard(s.Takedowns)
	}
	for _, c := range s.Collections {
		for _, seed := range c.Seeds {
			at, err := collection.ParseSeed(seed.URL)
			if err != nil {
				return nil, fmt.Errorf("collection %s: %w", c.Name, err)
			}
			a.of(at.ID).reach(at.ID, at.URL, reach{by: a.collections.number(c.Name)})
		}
	}
	return a, nil
}

// Outcome adds what a batch learnt about a URL.
func (a *Account) Outcome(o book.Outcome) {
	id := o.Identity()
	a.of(id).outcome(id, o)
}

// Link adds a link that was found.
func (a *Account) Link(l book.Link) {
	a.Target(book.Target{URL: l.Target, ID: layout.IdentityOf(l.Target), Kind: l.Kind, Depth: l.Depth, Hops: l.Hops, Collection: l.Collection})
}

// Target adds what matters of some links that were found.
func (a *Account) Target(t book.Target) {
	way := reach{by: anImage}
	if t.Kind != book.Image {
		way = reach{a.collections.number(t.Collection), t.Depth, t.Hops}
	}
	a.of(t.ID).reach(t.ID, t.URL, way)
}

// Len returns the number of URLs.
func (a *Account) Len() int {
	n := 0
	for _, s := range a.shards {
		n += s.len()
	}
	return n
}

func (a *Account) of(id layout.Identity) *shard { return a.shards[id[0]] }
