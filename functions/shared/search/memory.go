package search

import (
	"container/list"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

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
