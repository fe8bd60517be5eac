// Package export writes stored pages to files that other programs read.
//
//	format    file                                               for
//	jsonl     one JSON object a line (see Record)                data work, language models
//	xml       one document with its DTD (thesis 2011, 4.4)       the same, with older tools
//	markdown  a folder with a file for each page                 people, language models
//	warc      WARC/1.1 (ISO 28500:2017), each record gzipped     archives, replay
//	wacz      WACZ 1.1.1: a zip of such a WARC, its index and    archives, replay in browsers
//	          a list of pages
//	webo      Web objects of version 1 in a .webop, and its      programs of the thesis of 2006
//	          .webop.desc (see layout/webobject)
//
// An export is of the pages as they were at one moment, even while a crawl goes on. It
// reads package after package, with ranged GETs of several pages each. In memory are a
// few of these ranges, one page for each processor, and 48 bytes for each page. An export
// that was interrupted goes on where it stopped.
package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Selection says which pages are exported. Empty fields select all.
type Selection struct {
	Collection string    `json:"collection,omitempty"`
	Site       string    `json:"site,omitempty"` // host, or a domain with all its hosts
	Lang       string    `json:"lang,omitempty"` // primary subtag (RFC 5646)
	Since      time.Time `json:"since,omitzero"` // fetched then or later
	Until      time.Time `json:"until,omitzero"` // fetched before
}

// storedPages are the selected pages of a bucket as they were at one moment.
type storedPages struct {
	bucket   blob.Reader
	packages []string // keys
	places   []place  // by package and offset
	faults   []error  // a partition.Fault for each partition that lost generations or books
}

// place is where one page is.
type place struct {
	id      layout.Identity
	version layout.Version
	offset  int64
	length  int32
	pkg     uint32 // index of its key
}

// findPages finds the selected pages. Of a page that stands in two partitions, since a
// strategy has moved it, the later version counts. Lost generations and books are
// faults.
func findPages(ctx context.Context, bucket blob.Reader, s *settings.Settings, selected Selection, at time.Time) (*storedPages, error) {
	p := &storedPages{bucket: bucket}
	for _, id := range s.Partitions() {
		now, err := partition.Read(ctx, bucket, id)
		if err == nil {
			var then manifest.Manifest
			if then, err = manifest.AsOf(ctx, bucket, id, at); err == nil {
				err = p.add(ctx, s, selected, &then, &now)
			}
		}
		if partition.IsFault(err) {
			p.faults = append(p.faults, err)
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot find the pages of partition %s: %w", id, err)
		}
	}
	slices.SortFunc(p.places, func(a, b place) int {
		return cmp.Or(slices.Compare(a.id[:], b.id[:]), b.version.Compare(a.version))
	})
	p.places = slices.CompactFunc(p.places, func(a, b place) bool { return a.id == b.id })
	slices.SortFunc(p.places, func(a, b place) int {
		return cmp.Or(cmp.Compare(p.packages[a.pkg], p.packages[b.pkg]), cmp.Compare(a.offset, b.offset))
	})
	return p, nil
}

// add adds the pages of a partition. Packages have the keys that they have now: they
// get others when forgotten pages are erased from them.
func (p *storedPages) add(ctx context.Context, s *settings.Settings, selected Selection, then, now *manifest.Manifest) error {
	books, err := partition.OpenBooks(ctx, p.bucket, then.Books)
	if err != nil {
		return err
	}
	numbers := make(map[string]uint32) // of packages by the key in the outcomes
	for standing, err := range books.Standings(ctx) {
		if err != nil {
			return err
		}
		if !standing.Stands() || standing.Page.Package == "" || !selected.wants(standing.Page) {
			continue
		}
		o := standing.Page
		if s.Takedowns.ForgetsURL(o.URL) {
			continue
		}
		number, known := numbers[o.Package]
		if !known {
			number = uint32(len(p.packages))
			numbers[o.Package] = number
			key := o.Package
			if listed := now.Package(key); listed != nil {
				key = listed.Key
			}
			p.packages = append(p.packages, key)
		}
		p.places = append(p.places, place{o.Identity(), o.Version, o.Offset, int32(o.Length), number})
	}
	return nil
}

// wants reports whether the outcome of a page is of a selected one. Its language is not
// known yet.
func (s *Selection) wants(o *book.Outcome) bool {
	if s.Collection != "" && !slices.Contains(o.Collections, s.Collection) ||
		!s.Since.IsZero() && o.Time.Before(s.Since) || !s.Until.IsZero() && !o.Time.Before(s.Until) {
		return false
	}
	if s.Site == "" {
		return true
	}
	a, err := address.Parse(o.URL)
	return err == nil && (a.Host == s.Site || a.Site == s.Site)
}

const (
	maxSpan = 8 << 20   // bytes that one GET reads, unless one page has more
	maxGap  = 128 << 10 // bytes that are read and not needed, rather than sending another request
)

// found is a page whose bytes are in memory.
type found struct {
	at   *place
	key  string // of its package
	span span
	err  error // the object store is not available
}

// all yields the pages from a number on, in the order of their packages, after the GETs
// of their bytes. An error of the object store ends the sequence.
func (p *storedPages) all(ctx context.Context, from int) iter.Seq[found] {
	return func(yield func(found) bool) {
		var read span
		for i := from; i < len(p.places); i++ {
			at := &p.places[i]
			key := p.packages[at.pkg]
			if !read.covers(key, at) {
				read = p.span(i)
				if err := read.get(ctx); err != nil && !errors.Is(err, blob.ErrAbsent) && !errors.Is(err, blob.ErrRange) {
					yield(found{err: err})
					return
				}
			}
			if !yield(found{at: at, key: key, span: read}) {
				return
			}
		}
	}
}

// object decompresses the page.
func (f *found) object(ctx context.Context) (webobject.Object, error) {
	if f.err != nil {
		return webobject.Object{}, f.err
	}
	o, err := webobject.Read(ctx, &f.span, f.key, webobject.Place{Offset: f.at.offset, Length: int64(f.at.length)})
	if err == nil && layout.IdentityOf(o.URL) != f.at.id {
		err = fmt.Errorf("byte %d of %s holds another page, %.200q: %w", f.at.offset, f.key, o.URL, webobject.ErrDamaged)
	}
	return o, err
}

// span returns the bytes that the next GET should read: those of a page and of the
// pages close behind it.
func (p *storedPages) span(from int) span {
	first := &p.places[from]
	end := first.offset + int64(first.length)
	for i := from + 1; i < len(p.places); i++ {
		next := &p.places[i]
		if next.pkg != first.pkg || next.offset-end > maxGap || next.offset+int64(next.length)-first.offset > maxSpan {
			break
		}
		end = next.offset + int64(next.length)
	}
	return span{Reader: p.bucket, key: p.packages[first.pkg], at: blob.Range{Offset: first.offset, Length: end - first.offset}}
}

// span is a part of a package that is in memory. As a reader it returns parts of that,
// and reads others from the bucket.
type span struct {
	blob.Reader
	key     string
	at      blob.Range
	content []byte
}

func (s *span) covers(key string, at *place) bool {
	return s.key == key && s.at.Offset <= at.offset && at.offset+int64(at.length) <= s.at.Offset+s.at.Length
}

func (s *span) get(ctx context.Context) (err error) {
	s.content, err = s.Reader.Get(ctx, s.key, s.at)
	return err
}

// Get implements blob.Reader.
func (s *span) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	from := r.Offset - s.at.Offset
	if key == s.key && from >= 0 && r.Length > 0 && from+r.Length <= int64(len(s.content)) {
		return s.content[from : from+r.Length], nil
	}
	return s.Reader.Get(ctx, key, r)
}
