// Package export writes stored pages to files that other programs read.
//
//	format    file                                               for
//	jsonl     one JSON object a line (see Record)                data work, language models
//	xml       one document with its DTD (see documentType)       data work with older tools
//	markdown  a folder with a file for each page                 people, language models
//	warc      WARC/1.1 (ISO 28500:2017), each record gzipped     archives, replay
//	wacz      WACZ 1.1.1: a zip of such a WARC, its index and    archives, replay in browsers
//	          a list of pages
//	webo      Web objects of version 1 in a .webop, and its      programs of a thesis of 2006 on a
//	          .webop.desc (see layout/webobject)                 distributed search engine
//	mirror    a folder with links rewritten                      browsers
//
// Assets of pages, such as images (see package collection), are in all formats but jsonl,
// xml and markdown, which contain only text.
//
// An export has the pages as they were at one moment, even while a crawl goes on. It
// reads package after package, with ranged GETs of several pages each. In memory are a
// few of these ranges, one page for each processor, and 40 bytes for each page; for a
// mirror, the names of all files, too. An export that was interrupted goes on where it stopped.
//
// If pages of one language are selected, the index tells the language of each page, so
// that the others need not be read. Only pages that are not indexed yet are read to
// identify their language.
package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/inventory"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// storedPages are the selected pages of a bucket as they were at one moment.
type storedPages struct {
	bucket   blob.Reader
	packages []string // keys of the packages with the pages
	places   []place  // where each page is stored, sorted by package and offset
	all      *inventory.Inventory
	faults   []error // an error for each partition that lost versions of its manifest, or books (records of fetched pages)
}

// place says where one page is stored: its package, offset and length.
type place struct {
	id      layout.Identity
	offset  int64
	length  int32
	pkg     uint32 // package of the page, as an index in storedPages.packages
	indexed bool   // a language is selected, and the index says that the page is in this language
	asset   bool   // the page is an asset of other pages, which has no language
}

// findPages finds the selected pages, as they were at the given time. If assets is true, it also
// finds their assets. A selection by language also finds all pages that are not indexed yet, because
// their language is not known. A partition may have lost generations (versions of its manifest) or
// books (objects that say where pages are stored). Then findPages does not fail, but adds an error
// to storedPages.faults.
func findPages(ctx context.Context, bucket blob.Reader, s *settings.Settings, selected inventory.Selection, assets bool, at time.Time) (*storedPages, error) {
	all, err := inventory.Open(ctx, bucket, s, at)
	if err == nil && selected.Lang != "" {
		err = all.ReadIndex(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot find the pages: %w", err)
	}
	p := &storedPages{bucket: bucket, all: all}
	numbers := make(map[string]uint32) // numbers of packages, by key
	for page, err := range all.Pages(ctx, selected) {
		if err != nil {
			return nil, fmt.Errorf("cannot find the pages: %w", err)
		}
		if page.Asset && !assets {
			continue
		}
		number, known := numbers[page.Key]
		if !known {
			number = uint32(len(p.packages))
			numbers[page.Key] = number
			p.packages = append(p.packages, page.Key)
		}
		p.places = append(p.places, place{page.Identity(), page.Offset, int32(page.Length), number, page.Indexed, page.Asset})
	}
	p.faults = all.Faults
	slices.SortFunc(p.places, func(a, b place) int {
		return cmp.Or(cmp.Compare(p.packages[a.pkg], p.packages[b.pkg]), cmp.Compare(a.offset, b.offset))
	})
	return p, nil
}

const (
	maxSpan = 8 << 20   // greatest number of bytes of one GET, unless a single page is larger
	maxGap  = 128 << 10 // greatest gap between two pages, in bytes, that one GET reads to get both pages
)

// loaded is a page whose compressed bytes are in memory, in the field span.
type loaded struct {
	at   *place
	key  string // key of the package with the page
	span span   // part of the package that contains the page
	err  error  // why the bytes could not be read; all other fields are empty then
}

// read yields the pages from p.places[from] on, in the order of p.places, with their compressed
// bytes. If the object store fails, it yields one element with the error and ends. Pages whose
// package is missing are yielded, too; loaded.object fails for them.
func (p *storedPages) read(ctx context.Context, from int) iter.Seq[loaded] {
	return func(yield func(loaded) bool) {
		var in span
		for i := from; i < len(p.places); i++ {
			at := &p.places[i]
			key := p.packages[at.pkg]
			if !in.covers(key, at) {
				in = p.span(i)
				if err := in.get(ctx); err != nil && !errors.Is(err, blob.ErrAbsent) && !errors.Is(err, blob.ErrRange) {
					yield(loaded{err: err})
					return
				}
			}
			if !yield(loaded{at: at, key: key, span: in}) {
				return
			}
		}
	}
}

// object decompresses the page and returns its Web object. It fails if the page has another URL than
// the books say, which record where the page of each URL is stored.
func (f *loaded) object(ctx context.Context) (webobject.Object, error) {
	if f.err != nil {
		return webobject.Object{}, f.err
	}
	o, err := webobject.Read(ctx, &f.span, f.key, webobject.Place{Offset: f.at.offset, Length: int64(f.at.length)})
	if err == nil && layout.IdentityOf(o.URL) != f.at.id {
		err = fmt.Errorf("byte %d of %s holds another page, %.200q: %w", f.at.offset, f.key, o.URL, webobject.ErrDamaged)
	}
	return o, err
}

// span returns the range of bytes that the next GET should read: the page at p.places[from], and
// the pages that follow it closely in the same package (see maxGap). It reads nothing yet.
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

// span is a range of a package's bytes, kept in memory. As a blob.Reader it answers GETs
// within the range from memory, and all others from the bucket.
type span struct {
	blob.Reader
	key     string
	at      blob.Range
	content []byte // bytes of the range; nil before get has read them
}

// covers reports whether the range contains the whole of a page. The parameter at is the page's
// place, and key is the key of its package.
func (s *span) covers(key string, at *place) bool {
	return s.key == key && s.at.Offset <= at.offset && at.offset+int64(at.length) <= s.at.Offset+s.at.Length
}

// get reads the range from the bucket into s.content.
func (s *span) get(ctx context.Context) (err error) {
	s.content, err = s.Reader.Get(ctx, s.key, s.at)
	return err
}

// Get implements blob.Reader. It takes the bytes from s.content if all of them are there, else from
// the bucket.
func (s *span) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	from := r.Offset - s.at.Offset
	if key == s.key && from >= 0 && r.Length > 0 && from+r.Length <= int64(len(s.content)) {
		return s.content[from : from+r.Length], nil
	}
	return s.Reader.Get(ctx, key, r)
}
