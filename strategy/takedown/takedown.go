// Package takedown says which URLs and sites are forgotten: not crawled, not
// shown, and erased from everything that is kept.
//
// They are one versioned JSON document in the bucket. It holds only hashes, so that
// the record does not reveal what is forgotten:
//
//	{"entries": [{"url":  "<identity of a canonical URL>", "at": "2026-11-22T02:00:00Z"},
//	             {"site": "<identity of a site's name>",   "at": "2026-11-22T02:00:00Z"}]}
//
// # Damage
//
// A damaged version is replaced by its copy when it is read (see package numbered).
// If the copy is damaged too, the takedowns are the union of what can be read,
// since a version holds all entries of the one before: the previous version, and
// every whole entry of the damaged one. Other entries are unknown, so that their
// pages might be fetched and shown again. Therefore
//
//   - nothing is leased until the damage is repaired (see package settings);
//   - Version is that of the previous version: the additional entries of the union
//     are hidden and not fetched, and are erased when the next version is published;
//   - verify and an alert name the damaged object, and repair tells how many
//     entries it held at least, so that the operator can ask for them again.
//
// A changed bit may turn an entry into the hash of another URL. That is harmless: no
// page has this hash.
package takedown

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

// maxBytes is the largest document, of about 80,000 entries.
const maxBytes = 8 << 20

// Entry is one URL or one site that is forgotten.
type Entry struct {
	URL  *layout.Identity `json:"url,omitempty"`
	Site *layout.Identity `json:"site,omitempty"` // layout.IdentityOf its name
	At   time.Time        `json:"at"`
}

// Document is one version of what is forgotten.
type Document struct {
	Entries []Entry `json:"entries"`
}

// Validate says what is wrong with the document.
func (d Document) Validate() error {
	for i, e := range d.Entries {
		if (e.URL == nil) == (e.Site == nil) {
			return fmt.Errorf("entry %d: want either a url or a site", i)
		}
		if e.At.IsZero() {
			return fmt.Errorf("entry %d: no time since which it is forgotten", i)
		}
	}
	return nil
}

var store = numbered.Store[Document]{Prefix: layout.Takedowns, Key: layout.TakedownKey, Most: maxBytes, Recover: recoverEntries}

var entryPattern = regexp.MustCompile(`\{"(?:url|site)":"[0-9a-f]{32}","at":"[^"]{1,40}"\}`)

// recoverEntries adds the whole entries of a damaged version to a document.
func recoverEntries(d Document, damaged []byte) Document {
	known, next := newSet(d, 0), slices.Clone(d.Entries)
	for _, text := range entryPattern.FindAll(damaged, -1) {
		var e Entry
		if json.Unmarshal(text, &e) == nil && (Document{[]Entry{e}}).Validate() == nil && known.add(e) {
			next = append(next, e)
		}
	}
	return Document{Entries: next}
}

// URL returns the entry that forgets one address.
func URL(a address.Address, at time.Time) Entry { return Entry{URL: &a.ID, At: second(at)} }

// Site returns the entry that forgets a whole site, named as in address.Address.Site.
func Site(site string, at time.Time) Entry {
	id := layout.IdentityOf(site)
	return Entry{Site: &id, At: second(at)}
}

func second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// Forget adds entries to the takedowns in force and returns the resulting version.
// Entries that are forgotten already change nothing.
func Forget(ctx context.Context, bucket blob.Bucket, entries ...Entry) (version uint64, err error) {
	if len(entries) == 0 {
		return 0, errors.New("nothing to forget")
	}
	if err := (Document{entries}).Validate(); err != nil {
		return 0, fmt.Errorf("cannot forget: %w", err)
	}
	_, version, err = store.Publish(ctx, bucket, func(current Document, _ uint64) (Document, bool) {
		known := newSet(current, 0)
		next := Document{Entries: slices.Clone(current.Entries)}
		for _, e := range entries {
			if known.add(e) {
				next.Entries = append(next.Entries, e)
			}
		}
		return next, len(next.Entries) > len(current.Entries)
	})
	return version, err
}

// Republish publishes the readable takedowns if the newest version is damaged, and
// returns the new number, else 0.
func Republish(ctx context.Context, bucket blob.Bucket) (uint64, error) {
	return store.Republish(ctx, bucket, func(d Document, _ uint64) (Document, error) {
		if d.Entries == nil {
			d.Entries = []Entry{}
		}
		return d, nil
	})
}

// Load returns the takedowns in force: one LIST and at most one GET, if none
// are damaged.
func Load(ctx context.Context, bucket blob.Reader) (Set, error) {
	found, err := store.Find(ctx, bucket)
	if err != nil {
		return Set{}, err
	}
	set := newSet(found.Document, found.Version)
	set.Damaged = found.Damaged
	return set, nil
}
