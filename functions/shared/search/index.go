package search

import (
	"container/list"
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// Part is a segment as an index sees it.
type Part struct {
	Segment *segment.Segment
	Dead    *roaring.Bitmap // documents that are not there: deleted or hidden; nil when all are. It must not change
}

// Index is a set of segments searched as one. It is immutable and safe for
// concurrent use; making one reads nothing.
type Index struct {
	parts     []Part
	memory    *Memory
	totals    *totals
	languages map[string]int // documents by language
	documents int            // that are there
	exactly   int            // up to how many matches are counted before any is passed over
}

// New makes an index. Segments may be shared with other indexes, and so may the
// memory; nil remembers nothing.
func New(parts []Part, memory *Memory) (*Index, error) {
	ix := &Index{parts: parts, memory: memory, totals: newTotals(parts), languages: map[string]int{}, exactly: countExactly}
	if ix.totals.documents > math.MaxInt32 {
		return nil, fmt.Errorf("cannot search %.0f documents as one: at most %d", ix.totals.documents, math.MaxInt32)
	}
	for _, p := range parts {
		ix.documents += p.Segment.Documents()
		if p.Dead != nil {
			ix.documents -= int(p.Dead.GetCardinality())
		}
		for language, n := range p.Segment.Languages() {
			ix.languages[language] += n
		}
	}
	if memory == nil {
		ix.memory = NewMemory(0)
	}
	return ix, nil
}

// Lookup returns the latest document of a URL, and false if there is none. It reads
// the identities of all segments at once, and then one document.
func (ix *Index) Lookup(ctx context.Context, id layout.Identity) (segment.Document, bool, error) {
	s := &search{ix: ix, gathered: newGathered(ix.parts)}
	at := make([]int, len(ix.parts))
	err := s.each(withoutDeadline(ctx), func(ctx context.Context, part int) error {
		p := ix.parts[part]
		identities, err := p.Segment.Identities(ctx)
		at[part] = slices.IndexFunc(identities, func(other layout.Identity) bool { return other == id })
		for at[part] >= 0 && p.Dead != nil && p.Dead.ContainsInt(at[part]) { // a later version may be there
			next := slices.Index(identities[at[part]+1:], id)
			if next >= 0 {
				next += at[part] + 1
			}
			at[part] = next
		}
		return err
	})
	if err != nil {
		return segment.Document{}, false, err
	}
	var matches []match // one, or two while two partitions have a version
	for part, doc := range at {
		if doc >= 0 {
			matches = append(matches, match{part: int32(part), doc: uint32(doc)})
		}
	}
	if err := s.fetch(ctx, matches); err != nil || len(matches) == 0 {
		return segment.Document{}, false, err
	}
	return *s.document(s.latest(matches)[0]), true, nil
}

const (
	// knownWords is how many words a vocabulary knows at most.
	knownWords = 1 << 13
	// vocabularySize is about what it takes then.
	vocabularySize = 128 * knownWords
	// maxIdle is how many vocabularies wait for the next use.
	maxIdle = 4
)

// vocabulary knows the terms of words that are met often.
type vocabulary struct {
	words    [knownWords]knownWord // by the hash of language and word
	language uint64                // hash of the text's
	analyzer *analysis.Analyzer    // of the text's language
}

// knownWord is a word with one term, or a looser one beside it, for all of it.
type knownWord struct {
	hash        uint64
	term, loose string
	parts       bool // it has terms for parts of it instead
}

var seed = maphash.MakeSeed()

// read prepares for a text.
func (v *vocabulary) read(language string) {
	v.language, v.analyzer = maphash.String(seed, language), analysis.For(language)
}

// word returns what is known of a word of the text, that is of all letters and
// digits between others.
func (v *vocabulary) word(word string) *knownWord {
	hash := maphash.String(seed, word) ^ v.language
	known := &v.words[hash%knownWords]
	if known.hash != hash {
		*known = knownWord{hash: hash}
		v.analyzer.Each(word, func(o analysis.Occurrence) bool {
			if known.term == "" {
				known.term = o.Term
			} else {
				known.loose = o.Term
			}
			known.parts = known.parts || o.Start > 0 || o.End < len(word) || o.Half < o.End
			return true
		})
	}
	return known
}

// lend returns a vocabulary, which is to be given back.
func (m *Memory) lend() *vocabulary {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := len(m.idle) - 1
	if last < 0 {
		return new(vocabulary)
	}
	v := m.idle[last]
	m.idle = m.idle[:last]
	m.bytes -= vocabularySize
	return v
}

// giveBack keeps a vocabulary for the next.
func (m *Memory) giveBack(v *vocabulary) {
	v.analyzer = nil
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.idle) < maxIdle && vocabularySize <= m.limit/8 {
		m.idle = append(m.idle, v)
		m.bytes += vocabularySize
		m.trim()
	}
}

// Memory is what outlives an index: the documents of the last hits, identities
// that told equal scores apart, and the words of earlier texts. It is safe for concurrent use. What is given out must not change.
type Memory struct {
	limit int64

	mu     sync.Mutex // guards what follows
	bytes  int64      // of all that is kept
	recent *list.List // of *remembered, the last used first
	known  map[place]*list.Element
	idle   []*vocabulary
}

// place is a document of a segment, or allDocuments.
type place struct {
	segment string // its key
	doc     uint32
}

const allDocuments = 1<<32 - 1

type remembered struct {
	place
	value any
	bytes int64
}

// NewMemory returns a memory that keeps at most so many bytes.
func NewMemory(bytes int64) *Memory {
	return &Memory{limit: bytes, recent: list.New(), known: map[place]*list.Element{}}
}

// document returns a document that was put and has not been pushed out, or nil.
func (m *Memory) document(p place) *segment.Document {
	d, _ := m.get(p).(*segment.Document)
	return d
}

func (m *Memory) putDocument(p place, d *segment.Document) { m.put(p, d, sizeOf(d)) }

// identities returns those of a segment's documents, or nil.
func (m *Memory) identities(key string) []layout.Identity {
	ids, _ := m.get(place{key, allDocuments}).([]layout.Identity)
	return ids
}

func (m *Memory) putIdentities(key string, ids []layout.Identity) {
	m.put(place{key, allDocuments}, ids, 256+int64(len(ids)*len(layout.Identity{})))
}

func (m *Memory) get(p place) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, known := m.known[p]
	if !known {
		return nil
	}
	m.recent.MoveToFront(e)
	return e.Value.(*remembered).value
}

func (m *Memory) put(p place, value any, bytes int64) {
	if bytes > m.limit/8 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[p] != nil {
		return
	}
	m.known[p] = m.recent.PushFront(&remembered{p, value, bytes})
	m.bytes += bytes
	m.trim()
}

// trim keeps the limit; m.mu is held.
func (m *Memory) trim() {
	for m.bytes > m.limit && m.recent.Len() > 0 {
		last := m.recent.Remove(m.recent.Back()).(*remembered)
		delete(m.known, last.place)
		m.bytes -= last.bytes
	}
}

// Clear forgets all that was read.
func (m *Memory) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for e := m.recent.Front(); e != nil; e = e.Next() {
		m.bytes -= e.Value.(*remembered).bytes
	}
	m.recent.Init()
	clear(m.known)
}

// sizeOf returns about how many bytes of memory a document takes.
func sizeOf(d *segment.Document) int64 {
	size := 768 + len(d.URL) + len(d.Site) + len(d.Title) + len(d.Body) + len(d.MIME) + len(d.Package)
	for _, texts := range [][]string{d.Headings, d.Collections} {
		for _, text := range texts {
			size += 16 + len(text)
		}
	}
	return int64(size)
}
