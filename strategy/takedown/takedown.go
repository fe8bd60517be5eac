// Package takedown records which URLs and sites are forgotten: they are not crawled, not shown in
// results, and erased from everything that is stored.
//
// They are listed in one versioned JSON document in the bucket. The document has only hashes of them, so
// that it does not reveal what is forgotten:
//
//	{"entries": [{"url":  "<identity of a canonical URL>", "at": "2026-11-22T02:00:00Z", "place": 4853321902211},
//	             {"site": "<identity of a site's name>",   "at": "2026-11-22T02:00:00Z"}]}
//
// The place of a URL (see layout.Place) tells its site, which the identity does not. So only what is known of URLs
// of this site must be looked at again.
//
// # Taking back
//
// A takedown can be pending for some time, during which it can be taken back. While it is pending,
// searches do not show its pages, and nothing requests them, but they stay stored and indexed.
//
//	{"entries": [...],
//	 "pending": [{"until": "2026-11-22T03:00:00Z", "entries": [{"url": "…", "at": "2026-11-22T02:00:00Z"}]}],
//	 "changed": 7}
//
// When the time of pending entries is over, the sweep publishes a version in which they are among
// "entries" (see Seal). Only after that does it begin to erase their pages. Undo publishes a version
// without the entries that are taken back. Seal and Undo cannot both win: each number of a version is
// used once, so the slower of the two reads the result of the other first. An entry that was taken back
// before it was sealed loses no page.
//
// The field "changed" is the number of the version in which "entries" has changed last, or of a later one. It is present
// only beside "pending". Functions that erase pages use this number in place of the number of the newest
// version (see Set.Version), because pending entries give them nothing to erase.
//
// # Format history
//
//   - 1: entries.
//   - 1, since 2026-11-26: there may be "pending" and "changed". An earlier program takes such a version
//     for damaged (see below): it hides the pages, and leases nothing, until none is pending.
//   - 1, since 2026-11-27: "changed" is also present if all final entries were taken back. Before, functions that had
//     erased the pages of an earlier version took such a version for an older one, and waited until none was pending.
//   - 1, since 2026-11-26: entries of URLs have a "place". An earlier program ignores it, and publishes no version
//     after one with places (see package numbered). So its sweep makes no pending entry final: their pages stay
//     hidden, but are erased only by a newer sweep. If such a version is damaged, it recovers only the entries
//     without a place.
//
// # Damage
//
// If a version is damaged, its copy is read (see package numbered). If the copy is damaged, too, two
// kinds of entries are in force: those of the newest readable version, and those that can still be read
// in the bytes of newer, damaged versions. Other entries of the damaged versions are unknown: pages that
// they forget might be fetched and shown again. Therefore
//
//   - nothing is leased until the damage is repaired (see package settings);
//   - pages of entries that were read in damaged versions are neither fetched nor shown.
//     But they are erased only after the next version is published: erasing begins when
//     the number of the newest readable version rises (Set.Version);
//   - verify and an alert name the damaged object, and repair tells how many entries it
//     had at least, so that the operator can enter lost ones again.
//
// A pending entry that can be read only in a damaged version becomes final, because it is not known
// whether it was pending. The next version has the entries that were recovered in this way, so its
// "changed" is a new number, too.
//
// An entry that is read in a damaged version may have a wrong hash, because a bit of it has changed. That
// is harmless: practically no page has the wrong hash.
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

// maxBytes is the maximum size in bytes of a stored version of the takedowns, which is enough for
// about 80,000 entries.
const maxBytes = 8 << 20

// Entry is one URL or one site that is forgotten.
type Entry struct {
	URL  *layout.Identity `json:"url,omitempty"`
	Site *layout.Identity `json:"site,omitempty"` // hash of the site's name by layout.IdentityOf; nil for a URL
	At   time.Time        `json:"at"`             // time of the takedown
	// Place is the place of the URL; nil for a site, and in entries that an earlier program has published.
	Place *layout.Place `json:"place,omitempty"`
}

// Pending are entries that can be taken back.
type Pending struct {
	Until   time.Time `json:"until"` // from this time on, the sweep may erase their pages for good
	Entries []Entry   `json:"entries"`
}

// Document is one version of the takedowns.
type Document struct {
	Entries []Entry   `json:"entries"`
	Pending []Pending `json:"pending,omitempty"`
	// Changed is the number of the version in which Entries has changed last, or of a later one. It is 0 if Pending is
	// empty, or if Entries was always empty.
	Changed uint64 `json:"changed,omitempty"`
}

// Validate returns an error that says what is wrong with the document, or nil.
func (d Document) Validate() error {
	all := d.Entries
	for _, p := range d.Pending {
		if p.Until.IsZero() || len(p.Entries) == 0 {
			return errors.New("pending: want entries, and a time until which they can be taken back")
		}
		all = slices.Concat(all, p.Entries)
	}
	for i, e := range all {
		if (e.URL == nil) == (e.Site == nil) {
			return fmt.Errorf("entry %d: want either a url or a site", i)
		}
		if e.At.IsZero() {
			return fmt.Errorf("entry %d: no time since which it is forgotten", i)
		}
		if e.Place != nil && (e.URL == nil || !e.Place.IsOf(*e.URL)) {
			return fmt.Errorf("entry %d: the place is not that of a URL with this identity", i)
		}
	}
	return nil
}

var store = numbered.Store[Document]{Prefix: layout.Takedowns, Key: layout.TakedownKey, Most: maxBytes, Recover: recoverEntries}

var entryPattern = regexp.MustCompile(`\{"(?:url|site)":"[0-9a-f]{32}","at":"[^"]{1,40}"`)

// recoverEntries returns the document with further entries: those that can still be read in a
// damaged version, without their places, which may be damaged. The parameter damaged holds the bytes of that version.
func recoverEntries(d Document, damaged []byte) Document {
	known, next := newSet(d, 0), slices.Clone(d.Entries)
	for _, text := range entryPattern.FindAll(damaged, -1) {
		var e Entry
		if json.Unmarshal(append(slices.Clip(text), '}'), &e) == nil && (Document{Entries: []Entry{e}}).Validate() == nil && known.add(e) {
			next = append(next, e)
		}
	}
	d.Entries = next
	return d
}

// URL returns the entry by which one URL is taken down. The parameter at is the time of the takedown.
func URL(a address.Address, at time.Time) Entry {
	return Entry{URL: &a.ID, At: second(at), Place: &a.Place}
}

// Site returns the entry by which a whole site is taken down. The site is named as in
// address.Address.Site. The parameter at is the time of the takedown.
func Site(site string, at time.Time) Entry {
	id := layout.IdentityOf(site)
	return Entry{Site: &id, At: second(at)}
}

func second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// Forget adds entries to the takedowns in force, and returns the version that is then in
// force. If the takedowns have all these entries already, it publishes nothing.
func Forget(ctx context.Context, bucket blob.Bucket, entries ...Entry) (version uint64, err error) {
	if len(entries) == 0 {
		return 0, errors.New("nothing to forget")
	}
	if err := (Document{Entries: entries}).Validate(); err != nil {
		return 0, fmt.Errorf("cannot forget: %w", err)
	}
	_, version, err = store.Publish(ctx, bucket, func(current Document, version uint64) (Document, bool) {
		next := current.with(entries, version).without(entries)
		return next, len(next.Entries) > len(current.Entries)
	})
	return version, err
}

// Republish replaces a damaged newest version: it publishes a new version with all entries that can
// still be read. It returns the new number, or 0 if the newest version is not damaged.
func Republish(ctx context.Context, bucket blob.Bucket) (uint64, error) {
	return store.Republish(ctx, bucket, func(d Document, version uint64) (Document, error) {
		return d.renewed(version), nil
	})
}

// Load returns the takedowns in force. It takes one LIST and, if no version is damaged,
// at most one GET.
func Load(ctx context.Context, bucket blob.Reader) (Set, error) {
	found, err := store.Find(ctx, bucket)
	if err != nil {
		return Set{}, err
	}
	set := newSet(found.Document, found.Version)
	set.Faults = found.Faults
	return set, nil
}
