package manifest

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Manifest is one generation of a storage partition: a numbered, immutable version of the list of
// the partition's objects. The zero Manifest stands for a partition before its first commit, and is
// never stored.
type Manifest struct {
	Partition  layout.Partition `json:"partition"`
	Generation uint64           `json:"generation"`
	Time       time.Time        `json:"time"`   // time of the commit, to the millisecond
	Parent     string           `json:"parent"` // content hash of the generation before this one
	Next       uint32           `json:"next"`   // ID for the next package that is added
	Packages   []Package        `json:"packages"`
	Books      []Book           `json:"books"`
	Segments   []Segment        `json:"segments"`
	Consumed   []Consumed       `json:"consumed"`

	// Learnt is the name of the last commit with new outcomes of URLs; "" before the first such
	// commit. The frontier (the crawl's queues in Redis) stores the name of the last commit whose
	// outcomes were applied to it. If that name differs from Learnt, the frontier lacks the newest
	// outcomes (see strategy/frontier).
	//
	// The function pack sets Learnt to "<key of the new book>@<generation>". Repair sets it to the
	// key of its new book or, if a book was lost, to the key of its new epoch. Merging books brings
	// no new outcomes, and leaves Learnt unchanged.
	Learnt string `json:"learnt,omitempty"`
	// Closed holds the last closed batch of each of the newest epochs (see layout.Version), sorted by
	// epoch. Batches of the same epoch with lower tokens are closed, too. The pages of closed batches
	// must not be stored any more (see IsClosed).
	Closed []layout.Version `json:"closed,omitempty"`
	// Gone lists pages that were stored once and are not at their URLs any more, sorted by
	// identity. Documents with earlier versions of these pages must not be found.
	Gone []Gone `json:"gone,omitempty"`
	// Forgotten is the number of the last version of the takedowns (the list of pages to erase)
	// that was applied: all pages that this version names are erased from this partition. It is 0
	// if no version has been applied yet, or if repair wants all pages erased again.
	Forgotten uint64 `json:"forgotten,omitempty"`
	// Ranked names the input from which the ranks of the segments were computed: a hash of the keys
	// of all partitions' books and indexed packages, and of the rules. "" if there are no ranks, or
	// the function rank must compute them again.
	Ranked string `json:"ranked,omitempty"`
	// Unvisited is the entry of the object with the URLs that have no stored page but can be found
	// by the texts of links; nil if there is none.
	Unvisited *Unvisited `json:"unvisited,omitempty"`
	// Dictionaries is the list of the dictionaries by which queries are translated, for all
	// partitions. Only one partition has this list; in the manifests of the others the field is
	// nil.
	Dictionaries *Dictionaries `json:"dictionaries,omitempty"`
	// Oldest is the number of the oldest generation that is kept; earlier ones are deleted,
	// or will be. 0 if none was deleted yet.
	Oldest uint64 `json:"oldest,omitempty"`
	// Condemned are the records of objects that will be deleted after a grace (a waiting time). No
	// later generation may list these objects.
	Condemned []Condemned `json:"condemned,omitempty"`
	// CondemnedLists has the entries of lists: objects with older records of condemned objects. The function sweep
	// moves records from Condemned into lists, so that the manifest stays short.
	CondemnedLists []CondemnedList `json:"condemnedLists,omitempty"`

	hash     string   // content hash of the generation as it is stored
	position position // place of the generation among checkpoints and deltas
	restated bool     // this generation is being made, and is to be stored whole
	later    error    // error of reading a later, damaged generation; nil if there is none
}

// Package is the entry of a storage package in a manifest. The package's ID never changes, and no
// other package of the partition has it.
type Package struct {
	ID      uint32 `json:"id"`
	Key     string `json:"key"`
	Bytes   int64  `json:"bytes"`
	Pages   int    `json:"pages"`
	Indexed bool   `json:"indexed,omitempty"`
	// Apart is not nil if the package has so few pages of each host that the function index could not tell which
	// blocks of text the hosts repeat on their pages, such as menus. Later, index makes the documents of this
	// package again, together with those of other packages (see segments.Together), and sets Apart to nil.
	Apart *Apart `json:"apart,omitempty"`
	// Formerly are the earlier keys of the package, one for each time that pages were
	// erased from it. The remaining pages kept their offsets: if a book or segment refers
	// to a page by an earlier key and an offset, the page is at this offset of the present
	// object, too.
	Formerly []string `json:"formerly,omitempty"`
}

// Apart has two numbers about a package: its pages that have a document, and the hosts of these pages.
type Apart struct {
	Pages int `json:"pages"`
	Hosts int `json:"hosts"`
}

// Book is the entry of a book in a manifest, with the book's size in bytes and the numbers of its
// outcomes and links.
type Book struct {
	Key      string `json:"key"`
	Bytes    int64  `json:"bytes"`
	Outcomes int    `json:"outcomes"`
	Links    int    `json:"links"`
}

// Consumed is a manifest's entry of a batch whose spool object (all that was fetched for it) is
// no longer needed, and will be deleted. Either the spool object was packed (stored in packages
// and a book), or it was found damaged.
type Consumed struct {
	Batch layout.Version `json:"batch"`
	At    time.Time      `json:"at"`
	// Damaged is the reason why the spool object could not be read; "" if it was packed. A damaged
	// spool object is copied to a key below layout.Quarantine, and its pages are in no package.
	Damaged string `json:"damaged,omitempty"`
}

// HasConsumed reports whether the batch is in m.Consumed: its spool object, which holds all that
// was fetched, was packed or found damaged.
func (m *Manifest) HasConsumed(batch layout.Version) bool {
	return slices.ContainsFunc(m.Consumed, func(c Consumed) bool { return c.Batch == batch })
}

// Package returns the listed package that has the key at present or had it earlier (see
// Package.Formerly); nil if there is none.
func (m *Manifest) Package(key string) *Package {
	for i := range m.Packages {
		if p := &m.Packages[i]; p.Key == key || slices.Contains(p.Formerly, key) {
			return p
		}
	}
	return nil
}

// Objects yields the key and the size in bytes of every listed object: packages, books,
// segments, overlays, dictionaries and lists of condemned objects. A key that is listed twice is yielded twice.
func (m *Manifest) Objects() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for _, p := range m.Packages {
			if !yield(p.Key, p.Bytes) {
				return
			}
		}
		for _, b := range m.Books {
			if !yield(b.Key, b.Bytes) {
				return
			}
		}
		for _, s := range m.Segments {
			if !yield(s.Key, s.Bytes) {
				return
			}
			for key, bytes := range s.Overlays() {
				if !yield(key, bytes) {
					return
				}
			}
		}
		if u := m.Unvisited; u != nil && !yield(u.Key, u.Bytes) {
			return
		}
		for _, l := range m.CondemnedLists {
			if !yield(l.Key, l.Bytes) {
				return
			}
		}
		if m.Dictionaries != nil {
			for _, d := range m.Dictionaries.All {
				if !yield(d.Key, d.Bytes) {
					return
				}
			}
		}
	}
}

// Bytes returns the sum of the sizes of all listed objects, in bytes.
func (m *Manifest) Bytes() (sum int64) {
	for _, bytes := range m.Objects() {
		sum += bytes
	}
	return sum
}

// Add appends a package to Packages, with Next as its ID, and increments Next.
func (m *Manifest) Add(p Package) {
	p.ID = m.Next
	m.Next++
	m.Packages = append(m.Packages, p)
}

// Hash returns the content hash of the stored generation, "" for the zero Manifest.
func (m *Manifest) Hash() string { return m.hash }

// Restate is called while a commit makes this generation: the generation will be stored whole, as a checkpoint. So
// it can be read even if generations before it are damaged or lost.
func (m *Manifest) Restate() { m.restated = true }

// Later returns an error if m is not the newest generation, because a later one is damaged and could
// not be read. It returns nil if m was the newest when it was read. After an error, m may still be
// used to read pages. But nothing may be committed, condemned (marked for deletion) or deleted.
func (m *Manifest) Later() error {
	if m.later == nil {
		return nil
	}
	return fmt.Errorf("generation %d of partition %s is the newest that can be read, and not the last: %w",
		m.Generation, m.Partition, m.later)
}

// Clone returns a copy of m that shares nothing with m, so that either can be changed.
func (m Manifest) Clone() Manifest {
	m.Packages = slices.Clone(m.Packages)
	for i := range m.Packages {
		m.Packages[i].Formerly = slices.Clone(m.Packages[i].Formerly)
	}
	m.Books = slices.Clone(m.Books)
	m.Segments = slices.Clone(m.Segments)
	for i := range m.Segments {
		s := &m.Segments[i]
		s.Parts = slices.Clone(s.Parts)
		s.Deletions, s.Ranks, s.Anchors = cloned(s.Deletions), cloned(s.Ranks), cloned(s.Anchors)
	}
	m.Consumed = slices.Clone(m.Consumed)
	m.Closed = slices.Clone(m.Closed)
	m.Gone = slices.Clone(m.Gone)
	m.Condemned, m.CondemnedLists = slices.Clone(m.Condemned), slices.Clone(m.CondemnedLists)
	m.Unvisited = cloned(m.Unvisited)
	if m.Dictionaries = cloned(m.Dictionaries); m.Dictionaries != nil {
		d := m.Dictionaries
		d.All, d.Omitted = slices.Clone(d.All), slices.Clone(d.Omitted)
		for i := range d.All {
			d.All[i].Omitted = slices.Clone(d.All[i].Omitted)
		}
	}
	m.restated = false
	return m
}

// cloned returns a pointer to a copy of what a pointer points to; nil if the pointer is nil.
func cloned[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
