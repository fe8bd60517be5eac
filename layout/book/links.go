package book

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// The numbers of the columns of a block of links; most are named after a field of Link. Column 0 is
// textColumn.
const (
	linkSame = iota + 1 // in this column: 1 if the row has the same target as the row before, else 0
	linkSite
	linkShared
	linkRest
	linkKind
	linkRegion
	linkRel
	linkAnchor
	linkAround
	linkDepth
	linkHops
	linkWeight
	linkModified
	linkCollection
	linkDecision
	linkCount
	linkSources
	linkColumns1 // number of columns of a block in versions 1 to 3
)

// The number of the column that version 4 adds to a block of links, and the number of
// columns in version 4.
const (
	linkFormer = iota + linkColumns1 // in this column: 1 if Link.Former is true, else 0
	linkColumns4
)

// linkColumns returns the number of columns of a block of links in version v.
func (v version) linkColumns() int {
	if v >= version4 {
		return linkColumns4
	}
	return linkColumns1
}

// row stands for all links that differ only in their sources (the pages that contain them), such as
// the links of a site's navigation to one page. Link holds what they have in common; its field
// Source is zero. The field sources names the sources, by ascending indexes in the book's table of
// sources.
type row struct {
	Link
	sources []uint32
}

// joinAlike sorts rows by compareLinks, and joins those that differ only in their sources. The result
// shares memory with rows, which must not be used afterwards.
func joinAlike(rows []row) []row {
	slices.SortFunc(rows, func(r, s row) int { return compareLinks(&r.Link, &s.Link) })
	joined := rows[:0]
	for _, r := range rows {
		if n := len(joined); n > 0 && joined[n-1].Link == r.Link {
			joined[n-1].sources = append(joined[n-1].sources, r.sources...)
		} else {
			joined = append(joined, r)
		}
	}
	for _, r := range joined {
		slices.Sort(r.sources)
	}
	return joined
}

// secondsOf returns a time as it is stored: in seconds since 1970, 0 for the zero time.
func secondsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// timeOf returns the time for a number of seconds since 1970; it is the inverse of secondsOf.
func timeOf(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// linkWriter encodes the rows of a block of links. Rows must be added in the order of compareLinks.
// Of the target's URL and site, a row stores only the difference from the row before.
type linkWriter struct {
	*columnWriter
	version  version
	previous Link
}

func newLinkWriter(v version) *linkWriter {
	return &linkWriter{columnWriter: newColumnWriter(v.linkColumns()), version: v}
}

func (w *linkWriter) add(l row) {
	if w.size() == 0 {
		w.previous = Link{}
	}
	if l.Place == w.previous.Place && l.Target == w.previous.Target {
		w.uint(linkSame, 1)
	} else {
		w.uint(linkSame, 0)
		w.uint(linkSite, uint64(l.Place.Site()-w.previous.Place.Site()))
		w.url(linkShared, linkRest, w.previous.Target, l.Target)
	}
	w.uint(linkKind, uint64(l.Kind))
	w.uint(linkRegion, uint64(l.Region))
	w.word(linkRel, l.Rel)
	w.word(linkAnchor, l.Anchor)
	w.word(linkAround, l.Around)
	w.uint(linkDepth, uint64(l.Depth))
	w.uint(linkHops, uint64(l.Hops))
	w.uint(linkWeight, uint64(l.Weight))
	w.int(linkModified, secondsOf(l.Modified))
	w.word(linkCollection, l.Collection)
	w.word(linkDecision, l.Decision)
	w.uint(linkCount, uint64(len(l.sources)))
	source := uint32(0)
	for _, number := range l.sources {
		w.uint(linkSources, uint64(number-source))
		source = number
	}
	if w.version >= version4 {
		w.uint(linkFormer, numberOf(l.Former))
	}
	w.previous = l.Link
}

// linkReader decodes the rows that a linkWriter encoded.
type linkReader struct {
	columnReader
	version version
	table   int // number of sources in the book's table

	// These fields are the row that the method next has decoded last:

	link    Link            // fields of the row's links, without a source
	id      layout.Identity // identity of the link's target
	count   int             // number of sources of the row
	sources []uint32        // indexes of the sources in the book's table of sources
}

func (r *linkReader) reset(v version, raw []byte) error {
	r.version, r.link, r.id = v, Link{}, layout.Identity{}
	return r.columnReader.reset(v.linkColumns(), raw)
}

// linkFields says which fields of links are decoded; each value includes the fields of the
// values before it.
type linkFields int

const (
	targetFields linkFields = iota // the fields of the type Target
	voteFields                     // in addition: Region, Rel, Former and the indexes of the sources
	allFields                      // all fields: in addition to those of voteFields, Anchor, Around and Modified
)

// next decodes the next row, but only the wanted fields of it, because decoding
// sources and texts takes most of the time.
func (r *linkReader) next(wanted linkFields) error {
	l := &r.link
	before := l.Place
	if r.uint(linkSame, 1) == 0 {
		number := l.Place.Site()
		number += uint32(r.uint(linkSite, uint64(math.MaxUint32-number)))
		l.Target = string(r.url(linkShared, linkRest))
		l.Place, r.id = placeIn(number, l.Target)
	}
	l.Kind = Kind(r.byte(linkKind))
	if wanted >= voteFields {
		l.Region = Region(r.byte(linkRegion))
		l.Rel = r.word(linkRel, MaxWord)
		l.Former = r.version >= version4 && r.uint(linkFormer, 1) == 1
	} else {
		r.skipWord(linkRel, MaxWord)
	}
	if wanted == allFields {
		l.Anchor = r.word(linkAnchor, MaxText)
		l.Around = r.word(linkAround, MaxText)
		l.Modified = timeOf(r.int(linkModified))
	} else {
		r.skipWord(linkAnchor, MaxText)
		r.skipWord(linkAround, MaxText)
	}
	l.Depth = r.uint16(linkDepth)
	l.Hops = r.byte(linkHops)
	l.Weight = r.byte(linkWeight)
	l.Collection = r.word(linkCollection, MaxWord)
	l.Decision = r.word(linkDecision, MaxWord)
	r.count = int(r.uint(linkCount, uint64(r.left(linkSources))))
	switch {
	case r.err != nil:
	case l.Target == "":
		r.fail(linkSame, errors.New("the first row has no target"))
	case !l.Kind.valid():
		r.fail(linkKind, fmt.Errorf("unknown %v", l.Kind))
	case wanted >= voteFields && !l.Region.valid():
		r.fail(linkRegion, fmt.Errorf("unknown %v", l.Region))
	case r.count == 0:
		r.fail(linkCount, errors.New("row without a source"))
	case l.Place < before:
		r.fail(linkSite, errors.New("links are not sorted"))
	case wanted >= voteFields:
		r.readSources()
	}
	return r.err
}

func (r *linkReader) readSources() {
	r.sources = r.sources[:0]
	number := uint64(0)
	for range r.count {
		number += r.uint(linkSources, math.MaxUint32)
		if number >= uint64(r.table) && r.err == nil {
			r.fail(linkSources, fmt.Errorf("source %d of %d", number, r.table))
		}
		r.sources = append(r.sources, uint32(number))
	}
}

// name reports whether a row names one of those sources for which the list, by their indexes in the table, has
// true. It reads all rows, so that no other method can be called after it, but only the indexes of their sources.
func (r *linkReader) name(listed []bool) (bool, error) {
	for r.left(linkCount) > 0 {
		r.count = int(r.uint(linkCount, uint64(r.left(linkSources))))
		r.readSources()
		if r.err == nil && slices.ContainsFunc(r.sources, func(number uint32) bool { return listed[number] }) {
			return true, nil
		}
	}
	return false, r.err
}

// skipUnread must be called after the last row. It skips the columns whose fields the caller does
// not want, and which the method next has therefore not read. Without this, the method end would
// report the unread bytes of these columns as an error.
func (r *linkReader) skipUnread(wanted linkFields) {
	if wanted < voteFields {
		r.skip(linkRegion)
		r.skip(linkSources)
		r.skip(linkFormer)
	}
	if wanted < allFields {
		r.skip(linkModified)
	}
}
