package book

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// The columns of a block of links, behind textColumn.
const (
	linkSame = iota + 1 // 1: the target of the row before
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
	linkColumns
)

// row is a link that is equal on many pages: the source of its Link is zero, and
// sources are ascending numbers in the book's table.
type row struct {
	Link
	sources []uint32
}

// appendRows appends a link with the sorted numbers of its sources, as one row or
// several.
func appendRows(rows []row, l Link, numbers []uint32) []row {
	for part := range slices.Chunk(numbers, maxRow) {
		rows = append(rows, row{l, part})
	}
	return rows
}

// secondsOf returns the time as it is stored: in seconds since 1970, 0 for the
// zero time.
func secondsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func timeOf(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// linkWriter writes sorted rows, each as its difference from the one before.
type linkWriter struct {
	*columnWriter
	previous Link
}

func newLinkWriter() *linkWriter { return &linkWriter{columnWriter: newColumnWriter(linkColumns)} }

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
	w.previous = l.Link
}

type linkReader struct {
	columnReader
	table int // number of sources that the book has

	// The row that was read last.
	link    Link            // without its source
	id      layout.Identity // of the target
	count   int             // of its sources
	sources []uint32
}

func (r *linkReader) reset(raw []byte) error {
	r.link, r.id = Link{}, layout.Identity{}
	return r.columnReader.reset(linkColumns, raw)
}

// next reads the next row: all of it, or all except its region, words, time and
// sources.
func (r *linkReader) next(whole bool) error {
	l := &r.link
	before := l.Place
	if r.uint(linkSame, 1) == 0 {
		number := l.Place.Site()
		number += uint32(r.uint(linkSite, uint64(math.MaxUint32-number)))
		l.Target = string(r.url(linkShared, linkRest))
		l.Place, r.id = placeIn(number, l.Target)
	}
	l.Kind = Kind(r.byte(linkKind))
	if whole {
		l.Region = Region(r.byte(linkRegion))
		l.Rel = r.word(linkRel, MaxWord)
		l.Anchor = r.word(linkAnchor, MaxText)
		l.Around = r.word(linkAround, MaxText)
		l.Modified = timeOf(r.int(linkModified))
	} else {
		r.skipWord(linkRel, MaxWord)
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
	case whole && !l.Region.valid():
		r.fail(linkRegion, fmt.Errorf("unknown %v", l.Region))
	case r.count == 0:
		r.fail(linkCount, errors.New("row without a source"))
	case l.Place < before:
		r.fail(linkSite, errors.New("links are not sorted"))
	case whole:
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

// skipped skips the columns that next does not read when rows are not read whole.
func (r *linkReader) skipped() {
	r.skip(linkRegion)
	r.skip(linkModified)
	r.skip(linkSources)
}
