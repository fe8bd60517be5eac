package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Manifest is one generation of one partition. The zero generation is the
// empty partition before its first commit; it is never stored.
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

	hash string // of the bytes it was read from
}

// Package is a storage package. Its identifier is permanent in its partition.
type Package struct {
	ID      uint32 `json:"id"`
	Key     string `json:"key"`
	Bytes   int64  `json:"bytes"`
	Pages   int    `json:"pages"`
	Indexed bool   `json:"indexed,omitempty"`
}

// Book refers to what one pack learnt.
type Book struct {
	Key      string `json:"key"`
	Bytes    int64  `json:"bytes"`
	Outcomes int    `json:"outcomes"`
	Links    int    `json:"links"`
}

// Segment refers to the index of the packages with the given identifiers.
type Segment struct {
	Key       string   `json:"key"`
	Bytes     int64    `json:"bytes"`
	Documents int      `json:"documents"`
	Packages  []uint32 `json:"packages"`
}

// Consumed is a batch whose spool object has been packed and not yet deleted.
type Consumed struct {
	Batch layout.Version `json:"batch"`
	At    time.Time      `json:"at"`
	// Damaged says why the spool object could not be read; it was put into
	// quarantine instead of a package.
	Damaged string `json:"damaged,omitempty"`
}

// HasConsumed reports whether the batch's spool object has been packed or put
// into quarantine.
func (m *Manifest) HasConsumed(batch layout.Version) bool {
	return slices.ContainsFunc(m.Consumed, func(c Consumed) bool { return c.Batch == batch })
}

// Package returns the package with the given key, nil when it is not listed.
func (m *Manifest) Package(key string) *Package {
	for i := range m.Packages {
		if m.Packages[i].Key == key {
			return &m.Packages[i]
		}
	}
	return nil
}

// Add lists a package under the next identifier.
func (m *Manifest) Add(p Package) {
	p.ID = m.Next
	m.Next++
	m.Packages = append(m.Packages, p)
}

// Hash returns the content hash of the generation as it is stored.
func (m *Manifest) Hash() string { return m.hash }

func (m *Manifest) encode() ([]byte, error) {
	content, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("cannot encode manifest: %w", err)
	}
	return append(content, '\n'), nil
}

func decode(p layout.Partition, content []byte) (Manifest, error) {
	m := Manifest{hash: layout.ContentHash(content)}
	if err := json.Unmarshal(content, &m); err != nil {
		return Manifest{}, err
	}
	if m.Partition != p || m.Generation == 0 {
		return Manifest{}, fmt.Errorf("it is of partition %s, generation %d", m.Partition, m.Generation)
	}
	return m, nil
}

// clone lets an edit change every part without touching the base. Segments'
// package lists are never changed in place.
func (m Manifest) clone() Manifest {
	m.Packages = slices.Clone(m.Packages)
	m.Books = slices.Clone(m.Books)
	m.Segments = slices.Clone(m.Segments)
	m.Consumed = slices.Clone(m.Consumed)
	return m
}
