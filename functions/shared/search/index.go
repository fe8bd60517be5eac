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

	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// Part is a segment of an Index.
type Part struct {
	Segment *segment.Segment
	Dead    *roaring.Bitmap // deleted or hidden documents, nil if there are none; the bitmap must not be changed
	// Anchors is a segment with the texts of links to the documents, under the same document
	// numbers as in Segment; nil if there are none.
	Anchors *segment.Segment
	// Ranks reads the ranks of the documents, which decide about suggestions; nil if there are none.
	// The function may return no ranks.
	Ranks func(ctx context.Context) ([]segment.Rank, error)
	// Unvisited is true if the documents are URLs without a stored page. Then Segment has only the
	// anchors of these URLs (the texts of links to them), in the field for headings. A search
	// treats them as anchors, and leaves the documents out of its statistics.
	Unvisited bool
}

// begun reports whether the segment lacks terms of lone characters of scripts without spaces, because an
// older version of analysis made the terms of some of its documents. A search for such a character must
// then look for the longer terms that begin with it.
func (p Part) begun() bool {
	for _, version := range p.Segment.Analysis() {
		if !analysis.HasLone(version) {
			return true
		}
	}
	return false
}

// Index is a set of segments searched as one. It is immutable and safe for
// concurrent use; making one reads nothing.
type Index struct {
	parts     []Part
	memory    *Memory
	languages []corpusLanguage
	documents int // number of live documents
	// whether some segments have no terms for lone characters of scripts without spaces (see
	// Part.begun)
	begun   bool
	exactly int // number of matches that a search always counts; it may leave out further ones (see countExactly)
	// least number of postings of a query's words for which a search scans several segments in parallel (see
	// parallelPostings)
	parallel uint64
	stripe   uint32 // greatest number of documents of a stripe (see stripeDocuments)

	shares []leafShare // what leaves search; nil if this process searches all parts

	weights *Weights
	anchors *statistics // statistics by which anchors (texts of links) are scored
}

// New makes an index of the parts, which may have at most math.MaxInt32 documents together. Several
// indexes may share segments and a memory. If memory is nil, nothing is cached, and every search
// reads anew.
func New(parts []Part, memory *Memory) (*Index, error) {
	ix := &Index{parts: parts, memory: memory, languages: newLanguages(parts), begun: slices.ContainsFunc(parts, Part.begun), exactly: countExactly, parallel: parallelPostings, stripe: stripeDocuments, weights: standard, anchors: newAnchorStatistics(standard)}
	all := 0
	for _, p := range parts {
		all += p.Segment.Documents()
		if p.Unvisited {
			continue
		}
		ix.documents += p.Segment.Documents()
		if p.Dead != nil {
			ix.documents -= int(p.Dead.GetCardinality())
		}
	}
	if all > math.MaxInt32 {
		return nil, fmt.Errorf("cannot search %d documents as one: at most %d", all, math.MaxInt32)
	}
	if memory == nil {
		ix.memory = NewMemory(0)
	}
	return ix, nil
}

// Lookup returns the latest document of a URL, and false if the index has no stored page of the URL.
// It looks for the identity (hash of the URL) in all segments in parallel (see segment.Find), then reads
// one document.
func (ix *Index) Lookup(ctx context.Context, id layout.Identity) (segment.Document, bool, error) {
	s := &search{ix: ix, gathered: newGathered(ix.parts, ix.memory)}
	at, err := s.locate(withoutDeadline(ctx), []layout.Identity{id})
	if err != nil {
		return segment.Document{}, false, err
	}
	var matches []match // one, or two while two partitions have a version
	for part, found := range at {
		if len(found) > 0 {
			matches = append(matches, match{part: int32(part), doc: found[0].Doc})
		}
	}
	if err := s.fetch(ctx, matches); err != nil || len(matches) == 0 {
		return segment.Document{}, false, err
	}
	return *s.document(s.latest(matches)[0]), true, nil
}

const (
	// knownWords is the greatest number of words that a vocabulary (a cache of the terms of words)
	// holds.
	knownWords = 1 << 15
	// vocabularySize is the approximate size in bytes of a full vocabulary (a cache of the terms of
	// words).
	vocabularySize = 32 * knownWords
	// maxIdle is the greatest number of unused vocabularies (caches of the terms of words, 1 MB
	// each) that are kept for the next query.
	maxIdle = 4
)

// vocabulary caches the terms that analysis makes of words of texts. It has a fixed number of
// places: when two words belong to the same place, the newer one replaces the older.
type vocabulary struct {
	// cache of words; the place of a word is a hash of the word and its language, modulo knownWords
	words    [knownWords]knownWord
	language uint64             // number of the language of the current text (see read)
	analyzer *analysis.Analyzer // analyzer for the language of the current text
}

// knownWord holds hashes of the terms that analysis makes of a word. The field term is the hash of the
// first term. The field loose is the hash of the last term, or 0 if there is only one. Terms with the
// same hash are taken for equal: collisions of 64 bits are too rare to matter for the marks in snippets.
type knownWord struct {
	hash        uint64 // hash of the word, XOR the number of its language
	term, loose uint64
	// 0 if all terms stand for the whole word. If some stand for a part of it only, the bits (see bitOf) of all
	// terms and, for a term of a pair of characters, also the bit of the first of these characters alone. Which part
	// each term stands for is not stored: the caller must analyse the word again.
	parts uint64
}

var seed = maphash.MakeSeed()

func hashOf(text string) uint64 { return maphash.String(seed, text) }

// read begins a text in a language. The next calls of word analyse words of this text.
//
// The number of the language is no hash of its code alone. Otherwise the word no in the language ca and the word ca
// in the language no would have the same hash.
func (v *vocabulary) read(language string) {
	v.language, v.analyzer = hashOf("language "+language), analysis.For(language)
}

// bitOf returns a number with one of 64 bits set, which depends on the hash of a term. The bits of several terms,
// joined by OR, make a cheap test: if two sets of terms have no bit in common, they have no term in common. The
// reverse does not hold.
func bitOf(hash uint64) uint64 { return 1 << (hash & 63) }

// word returns the terms that analysis makes of a word of the current text (see read), as hashes. The
// argument must be a whole word: letters and digits, with no further letter or digit before or after
// them in the text.
func (v *vocabulary) word(word string) *knownWord {
	hash := hashOf(word) ^ v.language
	known := &v.words[hash%knownWords]
	if known.hash != hash {
		*known = knownWord{hash: hash}
		bits, parts := uint64(0), false
		v.analyzer.Each(word, func(o analysis.Occurrence) bool {
			if known.term == 0 {
				known.term = hashOf(o.Term)
			} else {
				known.loose = hashOf(o.Term)
			}
			bits |= bitOf(hashOf(o.Term))
			if o.First != "" {
				bits |= bitOf(hashOf(o.First))
			}
			parts = parts || o.Start > 0 || o.End < len(word) || o.Half < o.End
			return true
		})
		if parts {
			known.parts = bits
		}
	}
	return known
}

// lend returns a vocabulary for the caller alone, who must return it by giveBack.
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

// giveBack ends the use of a vocabulary that lend returned. It keeps at most maxIdle of them for
// other callers.
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

// Memory is a cache that successive indexes share. It holds
//
//	documents of hits
//	of a segment: identities, dates, and columns for filters and facets; guides to its terms;
//	words, suggestions and term vectors, if an earlier version of the program has built it
//	dictionaries for translation
//	terms of words in texts (see vocabulary)
//
// It is safe for concurrent use. Values that it returns must not be changed.
type Memory struct {
	limit int64

	mu     sync.Mutex // protects the fields below
	bytes  int64      // approximate size of all cached values in bytes
	recent *list.List // list of *remembered, the most recently used first
	known  map[place]*list.Element
	idle   []*vocabulary
}

// place is the key of a cached value in a Memory. For a cached document, it holds the key of the
// document's segment, and the document's number there. For other values, the number is replaced by
// one of the constants below.
type place struct {
	segment string // key of the segment
	doc     uint32
	print   bool // whether the value is the fingerprint of the document, and not the document
	guide   bool // true: the value is the guide of the block of terms with the number in doc
}

// These values of place.doc are not numbers of documents. Under a key with one of them, the cache has
// something else than a document:
const (
	allDocuments = 1<<32 - 1 // the identities (hashes of URLs) of a segment's documents
	allVectors   = 1<<32 - 2 // the term vectors of all documents of a segment that an earlier version of the program has built
	allLanguages = 1<<32 - 4 // the languages of a segment's documents
	allDates     = 1<<32 - 5 // the own dates of a segment's pages (see ownDates)
	whole        = 1<<32 - 3 // a whole dictionary, whose object key is in place.segment
	allWords     = 1<<32 - 6 // all words of a segment that an earlier version of the program has built
	allSuggested = 1<<32 - 7 // all suggestions of a segment that an earlier version of the program has built
	// the columns of a segment's documents that filters and facets read (see columnPlaces)
	allSites       = 1<<32 - 8
	allTypes       = 1<<32 - 9
	allCollections = 1<<32 - 10
)

type remembered struct {
	place
	value any
	bytes int64
}

// NewMemory returns an empty cache of at most the given number of bytes.
func NewMemory(bytes int64) *Memory {
	return &Memory{limit: bytes, recent: list.New(), known: map[place]*list.Element{}}
}

// document returns a cached document, or nil.
func (m *Memory) document(p place) *segment.Document {
	d, _ := m.get(p).(*segment.Document)
	return d
}

func (m *Memory) putDocument(p place, d *segment.Document) { m.put(p, d, sizeOf(d)) }

// print returns the cached fingerprint of the document at a place, and whether there is one.
func (m *Memory) print(p place) (print fingerprint.Fingerprint, known bool) {
	p.print = true
	print, known = m.get(p).(fingerprint.Fingerprint)
	return print, known
}

func (m *Memory) putPrint(p place, print fingerprint.Fingerprint) {
	const size = 256 // of a fingerprint with what the cache keeps beside it, in bytes
	p.print = true
	m.put(p, print, size)
}

// identities returns the cached identities (hashes of URLs) of a segment's documents, or nil.
func (m *Memory) identities(key string) []layout.Identity {
	ids, _ := m.get(place{segment: key, doc: allDocuments}).([]layout.Identity)
	return ids
}

func (m *Memory) putIdentities(key string, ids []layout.Identity) {
	m.put(place{segment: key, doc: allDocuments}, ids, 256+int64(len(ids)*len(layout.Identity{})))
}

// vectors returns the term vectors of some documents of a segment. The docs must be ascending. If the vectors of the
// segment can only be read all together, it takes them from the cache, or reads and decompresses them.
func (m *Memory) vectors(ctx context.Context, from *segment.Segment, docs []uint32) ([]segment.EncodedVector, error) {
	if from.VectorsInPages() {
		return from.Vectors(ctx, docs)
	}
	p := place{segment: from.Ref().Key, doc: allVectors}
	all, cached := m.get(p).([]byte)
	if !cached {
		var err error
		if all, err = from.AllVectors(ctx); err != nil {
			return nil, err
		}
		m.put(p, all, 256+int64(len(all)))
	}
	found := make([]segment.EncodedVector, len(docs))
	for i, doc := range docs {
		found[i] = all[int(doc)*segment.VectorSize:][:segment.VectorSize:segment.VectorSize]
	}
	return found, nil
}

// columnPlaces has the columns of strings that are cached, by name. The value is the number in place.doc under
// which the column is cached.
var columnPlaces = map[string]uint32{
	segment.Languages: allLanguages, segment.Sites: allSites, segment.Types: allTypes, segment.Collections: allCollections,
}

// column returns a column of a segment from the cache, or reads it. The column must be one of columnPlaces.
func (m *Memory) column(ctx context.Context, from *segment.Segment, name string) (*segment.StringColumn, error) {
	p := place{segment: from.Ref().Key, doc: columnPlaces[name]}
	if c, cached := m.get(p).(*segment.StringColumn); cached {
		return c, nil
	}
	c, err := from.Strings(ctx, name)
	if err == nil {
		size := 256 + 4*len(c.Of)
		for _, value := range c.Values {
			size += 16 + len(value)
		}
		for _, set := range c.Sets {
			size += 24 + 4*len(set)
		}
		m.putLarge(p, c, int64(size))
	}
	return c, err
}

// ownDates returns the dates that the pages of a segment state (see the type ownDates), or nil if they are
// not cached.
func (m *Memory) ownDates(key string) ownDates {
	d, _ := m.get(place{segment: key, doc: allDates}).(ownDates)
	return d
}

func (m *Memory) putOwnDates(key string, d ownDates) {
	m.putLarge(place{segment: key, doc: allDates}, d, 256+2*int64(len(d)))
}

// Dictionary returns the cached dictionary with a key, or nil.
func (m *Memory) Dictionary(key string) *dictionary.Dictionary {
	d, _ := m.get(place{segment: key, doc: whole}).(*dictionary.Dictionary)
	return d
}

// PutDictionary caches a dictionary, unless it takes more than an eighth of the cache's limit.
func (m *Memory) PutDictionary(key string, d *dictionary.Dictionary) {
	m.put(place{segment: key, doc: whole}, d, d.Size())
}

// words returns all words of a segment, if they are cached, or nil.
func (m *Memory) words(key string) *segment.Words {
	words, _ := m.get(place{segment: key, doc: allWords}).(*segment.Words)
	return words
}

// putWords caches all words of a segment, which take about so many bytes.
func (m *Memory) putWords(key string, words *segment.Words, bytes int64) {
	m.putLarge(place{segment: key, doc: allWords}, words, bytes)
}

// suggestions returns all suggestions of a segment, if they are cached; else nil.
func (m *Memory) suggestions(key string) *segment.Suggestions {
	s, _ := m.get(place{segment: key, doc: allSuggested}).(*segment.Suggestions)
	return s
}

func (m *Memory) putSuggestions(key string, s *segment.Suggestions) {
	m.putLarge(place{segment: key, doc: allSuggested}, s, 256+s.Size())
}

// Guides implements segment.Guides.
func (m *Memory) Guides(key string, blocks []int) []*segment.Guide {
	guides := make([]*segment.Guide, len(blocks))
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, block := range blocks {
		if e, known := m.known[place{segment: key, doc: uint32(block), guide: true}]; known {
			m.recent.MoveToFront(e)
			guides[i] = e.Value.(*remembered).value.(*segment.Guide)
		}
	}
	return guides
}

// PutGuide implements segment.Guides.
func (m *Memory) PutGuide(key string, block int, guide *segment.Guide) {
	const entry = 192 // size in bytes of what the cache keeps beside a value
	p := place{segment: key, doc: uint32(block), guide: true}
	m.remove(p) // the cache may hold a guide of other bytes of this block
	m.put(p, guide, entry+guide.Size())
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
	if bytes <= m.limit/8 {
		m.putLarge(p, value, bytes)
	}
}

// putLarge is like put, but the value may take up to a third of the limit of the cache. It is for values that are
// needed for each letter that somebody types, or for most queries with filters, facets or several languages: in a
// segment of a million documents, such a column takes some megabytes.
func (m *Memory) putLarge(p place, value any, bytes int64) {
	if bytes > m.limit/3 {
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

// remove evicts a value.
func (m *Memory) remove(p place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, known := m.known[p]; known {
		m.bytes -= m.recent.Remove(e).(*remembered).bytes
		delete(m.known, p)
	}
}

// trim evicts the least recently used values until the cache is within its limit. The caller
// must hold m.mu.
func (m *Memory) trim() {
	for m.bytes > m.limit && m.recent.Len() > 0 {
		last := m.recent.Remove(m.recent.Back()).(*remembered)
		delete(m.known, last.place)
		m.bytes -= last.bytes
	}
}

// Clear empties the cache, except for vocabularies.
func (m *Memory) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for e := m.recent.Front(); e != nil; e = e.Next() {
		m.bytes -= e.Value.(*remembered).bytes
	}
	m.recent.Init()
	clear(m.known)
}

// sizeOf estimates the size of a document in memory, in bytes.
func sizeOf(d *segment.Document) int64 {
	size := 768 + len(d.URL) + len(d.Site) + len(d.Title) + len(d.Body) + len(d.MIME) + len(d.Package)
	for _, texts := range [][]string{d.Headings, d.Collections} {
		for _, text := range texts {
			size += 16 + len(text)
		}
	}
	for i := range d.Sections {
		size += 32 + len(d.Sections[i].Fragment)
	}
	for i := range d.Entries {
		size += 40 + len(d.Entries[i].Fragment)
	}
	for i := range d.Images {
		image := &d.Images[i]
		size += 64 + len(image.URL) + len(image.Alt) + len(image.Caption) + len(image.Around)
	}
	return int64(size)
}
