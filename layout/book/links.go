package book

import (
	"errors"
	"fmt"
	"math"

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
	linkCollection
	linkDecision
	linkCount
	linkSources
	linkColumns
)

// row is a link that stands alike on many pages: the source of its Link is
// zero, and sources are numbers in the book's table, ascending.
type row struct {
	Link
	sources []uint32
}

// linkWriter writes sorted rows, each as its difference from the one before.
type linkWriter struct {
	*columnWriter
	previous Link
}

func newLinkWriter() *linkWriter { return &linkWriter{columnWriter: newColumnWriter(linkColumns)} }

func (w *linkWriter) add(l row) {
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

// linkReader reads what linkWriter wrote.
type linkReader struct {
	*columnReader
	table    []layout.Identity
	previous Link
}

func newLinkReader(raw []byte, table []layout.Identity) (*linkReader, error) {
	columns, err := newColumnReader(linkColumns, raw)
	return &linkReader{columnReader: columns, table: table}, err
}

// more reports whether another row follows.
func (r *linkReader) more() bool { return len(r.columns[linkSame]) > 0 }

// next returns the next row as a link without source and the number of its
// sources, which the caller then takes one by one from source.
func (r *linkReader) next() (Link, int, error) {
	l := Link{Place: r.previous.Place, Target: r.previous.Target}
	if r.uint(linkSame, 1) == 0 {
		site := l.Place.Site()
		site += uint32(r.uint(linkSite, uint64(math.MaxUint32-site)))
		l.Target = r.url(linkShared, linkRest, l.Target)
		l.Place, _ = placeIn(site, l.Target)
	}
	l.Kind = Kind(r.byte(linkKind))
	l.Region = Region(r.byte(linkRegion))
	l.Rel = r.word(linkRel, MaxWord)
	l.Anchor = r.word(linkAnchor, MaxText)
	l.Around = r.word(linkAround, MaxText)
	l.Depth = r.uint16(linkDepth)
	l.Hops = r.byte(linkHops)
	l.Collection = r.word(linkCollection, MaxWord)
	l.Decision = r.word(linkDecision, MaxWord)
	count := r.uint(linkCount, uint64(len(r.columns[linkSources])))
	switch {
	case r.err != nil:
	case l.Target == "":
		r.fail(linkSame, errors.New("the first row has no target"))
	case !l.Kind.valid():
		r.fail(linkKind, fmt.Errorf("unknown %v", l.Kind))
	case !l.Region.valid():
		r.fail(linkRegion, fmt.Errorf("unknown %v", l.Region))
	case count == 0:
		r.fail(linkCount, errors.New("row without a source"))
	case l.Place < r.previous.Place:
		r.fail(linkSite, errors.New("links are not sorted"))
	}
	r.previous = l
	return l, int(count), r.err
}

// source adds the next difference to the number of a source (0 before the
// first) and returns the number and the source.
func (r *linkReader) source(number uint64) (uint64, layout.Identity, error) {
	number += r.uint(linkSources, math.MaxUint32)
	if r.err == nil && number >= uint64(len(r.table)) {
		r.fail(linkSources, fmt.Errorf("source %d of %d", number, len(r.table)))
	}
	if r.err != nil {
		return 0, layout.Identity{}, r.err
	}
	return number, r.table[number], nil
}
