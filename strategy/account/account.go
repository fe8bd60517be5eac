// Package account folds books into the state of every URL (law 7): each
// discovered URL is stored, skipped, failed or pending, and nothing else. The
// frontier is rebuilt from this fold; status and verify report it.
package account

import (
	"fmt"
	"iter"
	"slices"
	"strings"

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
	Final      book.Outcome // what decided the state, zero when nothing was asked
	Discovered bool         // a seed, or the target of a link
	Depth      uint16       // links from a seed
	Hops       uint8        // redirects that led here
	Attempts   uint8        // times asked without a final outcome
	Collection string       // that admits the URL
}

// Account folds outcomes and links, in any order but for one thing: of two
// outcomes with one version the one that was added first counts.
type Account struct {
	settings *settings.Settings
	urls     map[layout.Identity]*facts
}

// facts is what is known of one URL.
type facts struct {
	url     string
	final   book.Outcome // of the highest version
	asked   book.Outcome // the last that was not final
	reaches []reach      // the nearest of each collection, by its name
	image   bool         // target of an image
}

// reach is a way on which a collection comes to a URL.
type reach struct {
	collection string
	depth      uint16
	hops       uint8
}

// nearer reports whether the way is shorter than another. One of too many
// redirects leads nowhere, so any other is shorter.
func (r reach) nearer(than reach) bool {
	if lost, lostThan := r.hops > collection.MaxHops, than.hops > collection.MaxHops; lost != lostThan {
		return lostThan
	}
	return r.depth < than.depth || r.depth == than.depth && r.hops < than.hops
}

// New returns an account that knows the seeds of all collections.
func New(s *settings.Settings) (*Account, error) {
	a := &Account{settings: s, urls: make(map[layout.Identity]*facts)}
	for _, c := range s.Collections {
		for _, seed := range c.Seeds {
			at, err := collection.ParseSeed(seed.URL)
			if err != nil {
				return nil, fmt.Errorf("collection %s: %w", c.Name, err)
			}
			a.of(at.URL).reach(reach{collection: c.Name})
		}
	}
	return a, nil
}

// Outcome adds what a batch learnt about a URL.
func (a *Account) Outcome(o book.Outcome) {
	f := a.of(o.URL)
	known := &f.asked
	if final(o.State) {
		known = &f.final
	}
	if known.State == 0 || o.Version.Compare(known.Version) > 0 {
		*known = o
	}
}

// Link adds a link that was found.
func (a *Account) Link(l book.Link) {
	f := a.of(l.Target)
	if l.Kind == book.Image {
		f.image = true
		return
	}
	f.reach(reach{l.Collection, l.Depth, l.Hops})
}

// Len returns the number of URLs.
func (a *Account) Len() int { return len(a.urls) }

// All yields every URL once, in no order.
func (a *Account) All() iter.Seq2[URL, error] {
	return func(yield func(URL, error) bool) {
		for _, f := range a.urls {
			if !yield(a.judge(f)) {
				return
			}
		}
	}
}

func (a *Account) of(url string) *facts {
	id := layout.IdentityOf(url)
	f, known := a.urls[id]
	if !known {
		f = &facts{url: url}
		a.urls[id] = f
	}
	return f
}

func (f *facts) reach(r reach) {
	i, known := slices.BinarySearchFunc(f.reaches, r.collection, func(known reach, name string) int {
		return strings.Compare(known.collection, name)
	})
	switch {
	case !known:
		f.reaches = slices.Insert(f.reaches, i, r)
	case r.nearer(f.reaches[i]):
		f.reaches[i] = r
	}
}

// judge decides by today's collections, whatever was decided when a link was
// found: a wider scope takes up what a narrower one left out.
func (a *Account) judge(f *facts) (URL, error) {
	target, err := address.Parse(f.url)
	if err != nil {
		return URL{}, fmt.Errorf("url %q in the books: %w", f.url, err)
	}
	u := URL{Address: target, Final: f.final, Discovered: f.image || len(f.reaches) > 0}
	if f.asked.Version.Compare(f.final.Version) > 0 {
		u.Attempts = f.asked.Attempts
	}
	u.State, u.Reason = Skipped, "image"
	for i, r := range f.reaches {
		refusal := a.settings.Decide(r.collection, target, r.depth, r.hops)
		if refusal == "" || i == 0 {
			u.Depth, u.Hops, u.Collection, u.Reason = r.depth, r.hops, r.collection, refusal
		}
		if refusal == "" {
			u.State = Pending
			break
		}
	}
	switch f.final.State {
	case book.Stored, book.Unchanged:
		// A page that has become a seed is asked again: its links were found
		// farther from a seed than they are now.
		if u.State != Pending || u.Depth > 0 || f.final.Depth == 0 {
			u.State, u.Reason = Stored, ""
		}
	case book.Skipped:
		u.State, u.Reason = Skipped, f.final.Reason
	case book.Failed:
		if u.State != Pending || !a.settings.AskAgain(u.Collection, f.final) {
			u.State, u.Reason = Failed, f.final.Reason
		}
	}
	return u, nil
}

// final reports whether an outcome ends the asking for a URL.
func final(s book.State) bool { return s != book.Retry && s != book.NotAsked }
