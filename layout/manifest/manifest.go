package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Manifest is one generation of one partition. The zero Manifest is the generation of
// a partition before its first commit, and is never stored.
type Manifest struct {
	Partition  layout.Partition `json:"partition"`
	Generation uint64           `json:"generation"`
	Time       time.Time        `json:"time"`   // of the commit, to the millisecond
	Parent     string           `json:"parent"` // content hash of the generation before
	Next       uint32           `json:"next"`   // identifier of the next package
	Packages   []Package        `json:"packages"`
	Books      []Book           `json:"books"`
	Segments   []Segment        `json:"segments"`
	Consumed   []Consumed       `json:"consumed"`

	// Learnt names the last commit of a book by pack or repair: <key of its
	// book>@<generation>. Compacting books keeps it. A frontier that does not
	// know it is behind the books (see strategy/frontier).
	Learnt string `json:"learnt,omitempty"`
	// Closed holds, of each epoch, the highest batch that was taken out of
	// Consumed; see IsClosed.
	Closed []layout.Version `json:"closed,omitempty"`
	// Gone lists formerly stored pages whose last outcome says that they are gone: their
	// documents of earlier versions must not be found. It is sorted; see the type Gone.
	Gone []Gone `json:"gone,omitempty"`
	// Forgotten is the version of the takedowns whose pages are all erased here.
	Forgotten uint64 `json:"forgotten,omitempty"`
	// Oldest is the oldest kept generation, 0 the first. Generations before it
	// are deleted, or will be.
	Oldest uint64 `json:"oldest,omitempty"`
	// Condemned are objects that no generation lists from now on, and that will be
	// deleted when no reader needs them any more.
	Condemned []Condemned `json:"condemned,omitempty"`

	hash  string // of the bytes it was read from
	later error  // see Later
}

// Package is a storage package. Its identifier is permanent in its partition.
type Package struct {
	ID      uint32 `json:"id"`
	Key     string `json:"key"`
	Bytes   int64  `json:"bytes"`
	Pages   int    `json:"pages"`
	Indexed bool   `json:"indexed,omitempty"`
	// Formerly are the keys of the package before pages were erased from it. The
	// other pages kept their offsets, so that what books and segments say of a
	// former key is true of this one.
	Formerly []string `json:"formerly,omitempty"`
}

// Book refers to a book.
type Book struct {
	Key      string `json:"key"`
	Bytes    int64  `json:"bytes"`
	Outcomes int    `json:"outcomes"`
	Links    int    `json:"links"`
}

// Consumed is a batch whose spool object has been packed and not yet deleted.
type Consumed struct {
	Batch layout.Version `json:"batch"`
	At    time.Time      `json:"at"`
	// Damaged says why the spool object could not be read, and is in quarantine
	// instead of in a package.
	Damaged string `json:"damaged,omitempty"`
}

// HasConsumed reports whether the batch's spool object was packed or put into
// quarantine.
func (m *Manifest) HasConsumed(batch layout.Version) bool {
	return slices.ContainsFunc(m.Consumed, func(c Consumed) bool { return c.Batch == batch })
}

// Package returns the listed package that has the key or had it formerly, nil if
// there is none.
func (m *Manifest) Package(key string) *Package {
	for i := range m.Packages {
		if p := &m.Packages[i]; p.Key == key || slices.Contains(p.Formerly, key) {
			return p
		}
	}
	return nil
}

// Objects yields the keys and sizes of all listed objects, a key as often as it is
// listed.
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
			if !yield(s.Key, s.Bytes) || s.Deletions != nil && !yield(s.Deletions.Key, s.Deletions.Bytes) {
				return
			}
		}
	}
}

// Known returns the keys of all listed and condemned objects.
func (m *Manifest) Known() map[string]bool {
	known := make(map[string]bool, len(m.Packages)+len(m.Books)+2*len(m.Segments)+len(m.Condemned))
	for key := range m.Objects() {
		known[key] = true
	}
	for _, c := range m.Condemned {
		known[c.Key] = true
	}
	return known
}

// Bytes returns the size of all listed objects.
func (m *Manifest) Bytes() (sum int64) {
	for _, bytes := range m.Objects() {
		sum += bytes
	}
	return sum
}

// Add lists a package under the next identifier.
func (m *Manifest) Add(p Package) {
	p.ID = m.Next
	m.Next++
	m.Packages = append(m.Packages, p)
}

// Hash returns the content hash of the generation as it is stored.
func (m *Manifest) Hash() string { return m.hash }

const format = 2

type document struct {
	Format int `json:"format"`
	*Manifest
}

// encode seals a generation, so that a byte that changed, in it or in the hint,
// is noticed before anything is committed on top of it.
func (m *Manifest) encode() ([]byte, error) {
	content, err := json.Marshal(document{format, m})
	if err != nil {
		return nil, fmt.Errorf("cannot encode manifest: %w", err)
	}
	return compress(layout.Seal(content)), nil
}

// ErrDamaged says that the bytes of a generation, or of a hint, are not those
// that were written.
var ErrDamaged = errors.New("it is damaged")

// Later says why a later generation cannot be read; nil if this one was the
// newest when it was read. Otherwise it may be read, but nothing may be
// committed, condemned or deleted because of it.
func (m *Manifest) Later() error {
	if m.later == nil {
		return nil
	}
	return fmt.Errorf("generation %d of partition %s is the newest that can be read, and not the last: %w",
		m.Generation, m.Partition, m.later)
}

// Decode reads a generation of a partition. It fails with ErrDamaged if any of
// its bytes changed since it was written.
func Decode(p layout.Partition, stored []byte) (Manifest, error) {
	m := Manifest{hash: layout.ContentHash(stored)}
	content := stored
	if !bytes.HasPrefix(stored, []byte("{")) { // as it was once
		var err error
		if content, err = decompress(stored); err != nil {
			return Manifest{}, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	object, sealed, err := layout.Unseal(content)
	if err == nil && !sealed {
		err = errors.New("it has no sum")
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	s := document{Manifest: &m}
	if err := json.Unmarshal(object, &s); err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if s.Format != format {
		return Manifest{}, fmt.Errorf("it is of format %d, and this program reads format %d only: use the version that wrote it, or crawl into a new bucket", max(s.Format, 1), format)
	}
	if m.Partition != p || m.Generation == 0 {
		return Manifest{}, fmt.Errorf("%w: it is of partition %s, generation %d", ErrDamaged, m.Partition, m.Generation)
	}
	return m, nil
}

// Clone lets an edit change every part without touching the base. Lists inside
// of packages and segments are never changed in place.
func (m Manifest) Clone() Manifest {
	m.Packages = slices.Clone(m.Packages)
	m.Books = slices.Clone(m.Books)
	m.Segments = slices.Clone(m.Segments)
	m.Consumed = slices.Clone(m.Consumed)
	m.Closed = slices.Clone(m.Closed)
	m.Gone = slices.Clone(m.Gone)
	m.Condemned = slices.Clone(m.Condemned)
	return m
}
