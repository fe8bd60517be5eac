package segment

import (
	"fmt"
	"math"
	"sort"
	"sync"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Index is a set of segments searched as one. It is immutable and safe for
// concurrent use; making one reads only the segments' rows.
type Index struct {
	segments []*Segment
	dead     []*roaring.Bitmap // of each segment, what is hidden too; nil when all of it is live
	offsets  []uint64          // number of each segment's first document in the index
	live     map[layout.Identity]place
	fields   [fieldCount]fieldTotals

	analyzers sync.Pool // *analyzer, which remember the words of earlier searches
}

type place struct {
	version      layout.Version
	segment, doc int32
}

// fieldTotals counts the live documents that have the field, and their terms.
type fieldTotals struct{ documents, length uint64 }

// averageLength is that of the documents that have the field.
func (t fieldTotals) averageLength() float64 {
	return float64(t.length) / math.Max(1, float64(t.documents))
}

// NewIndex makes an index of segments, which other indexes may hold as well.
// Of documents with one identity the highest version is live; of equal
// versions the first.
func NewIndex(segments []*Segment) (*Index, error) {
	ix := &Index{
		segments: segments,
		dead:     make([]*roaring.Bitmap, len(segments)),
		live:     map[layout.Identity]place{},
	}
	ix.analyzers.New = func() any { return newAnalyzer() }
	total := uint64(0)
	for n, s := range segments {
		ix.offsets = append(ix.offsets, total)
		total += uint64(s.Documents())
		if s.hidden != nil {
			ix.dead[n] = s.hidden.Clone()
		}
		for doc := range s.Documents() {
			if s.hidden != nil && s.hidden.ContainsInt(doc) {
				continue
			}
			ix.elect(s.Identity(doc), place{s.version(doc), int32(n), int32(doc)})
		}
	}
	if total > math.MaxUint32 {
		return nil, fmt.Errorf("cannot index %d documents in one: at most %d", total, uint32(math.MaxUint32))
	}
	for _, p := range ix.live {
		for f := range ix.fields {
			if length := segments[p.segment].length(int(p.doc), f); length > 0 {
				ix.fields[f].documents++
				ix.fields[f].length += uint64(length)
			}
		}
	}
	return ix, nil
}

// elect makes p the live version of id, or dead if there is one as high.
func (ix *Index) elect(id layout.Identity, p place) {
	loser := p
	current, known := ix.live[id]
	if !known || p.version.Compare(current.version) > 0 {
		ix.live[id] = p
		loser = current
	}
	if !known {
		return
	}
	if ix.dead[loser.segment] == nil {
		ix.dead[loser.segment] = roaring.New()
	}
	ix.dead[loser.segment].Add(uint32(loser.doc))
}

// Documents returns the number of live documents.
func (ix *Index) Documents() int { return len(ix.live) }

// Lookup returns the live version of a document, and false if there is none.
func (ix *Index) Lookup(id layout.Identity) (Document, bool, error) {
	p, known := ix.live[id]
	if !known {
		return Document{}, false, nil
	}
	d, err := ix.segments[p.segment].document(int(p.doc))
	return d, err == nil, err
}

// locate returns the segment that holds a document of the index, and the
// document's number in it.
func (ix *Index) locate(number uint64) (segment, doc int) {
	segment = sort.Search(len(ix.offsets), func(n int) bool { return ix.offsets[n] > number }) - 1
	return segment, int(number - ix.offsets[segment])
}
