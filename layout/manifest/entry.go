package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

const (
	format    = 3
	minFormat = 2 // oldest format that this program reads; that of a whole generation without CondemnedLists
)

// Small is the greatest size, in bytes as it is stored, of a small generation. As long as the generations of a
// partition are small, each is stored whole, and not as a delta. So programs that read only format 2 can work on
// small partitions beside this program. Tests set Small to 0, so that partitions with little in them have deltas.
var Small = 16 << 10

// maxBytes is the greatest size of a generation before compression, in bytes.
const maxBytes = 256 << 20

// Limits after which a generation is stored whole, and not as a delta.
const (
	maxDeltas      = 100            // greatest distance from a checkpoint to the next
	maxCheckpoints = 24 * time.Hour // a checkpoint of this age is followed by another
)

var (
	// ErrDamaged says that the bytes of a generation, or of its copy (the hint), are not those that
	// were written, or that a delta does not follow from the generation before it.
	ErrDamaged = errors.New("it is damaged")
	// ErrTooLarge says that a generation was not committed because no program could read it.
	ErrTooLarge = errors.New("the partition lists too much for one manifest")
)

// document is the JSON form of a whole generation. The hint has the same form.
type document struct {
	Format int `json:"format"`
	*Manifest
	Copy *origin `json:"copy,omitempty"`
}

// origin is the member "copy" of a hint that copies a delta.
type origin struct {
	Of  string   `json:"of"` // content hash of the delta as it is stored
	Log position `json:"log"`
}

// header has the fields that are in both forms of a generation, whole and delta.
type header struct {
	Format     int              `json:"format"`
	Partition  layout.Partition `json:"partition"`
	Generation uint64           `json:"generation"`
	Time       time.Time        `json:"time"`
	Parent     string           `json:"parent"`
}

// deltaBegin is the beginning of the JSON of a delta. Whole generations do not have the member log.
const deltaBegin = `{"format":3,"log":{`

// Entry is one generation as it is stored: whole, or as a delta.
type Entry struct {
	Generation uint64
	Time       time.Time
	Parent     string // content hash of the generation before this one, as it is stored
	Hash       string // content hash of this one
	Checkpoint uint64 // number of the last whole generation up to this one

	content []byte // the JSON without its sum
	bytes   int64  // size as it is stored
	delta   *delta // nil if the generation is whole
}

// DecodeEntry parses a stored generation of partition p. It fails with ErrDamaged if any of its bytes
// changed since it was written, and with another error if its format is later than those that this
// program reads.
func DecodeEntry(p layout.Partition, stored []byte) (Entry, error) {
	e := Entry{Hash: layout.ContentHash(stored), bytes: int64(len(stored))}
	var err error
	if e.content, err = unseal(stored); err != nil {
		return Entry{}, err
	}
	var h header
	if bytes.HasPrefix(e.content, []byte(deltaBegin)) {
		e.delta = &delta{Manifest: new(Manifest)}
		if err := json.Unmarshal(e.content, e.delta); err != nil {
			return Entry{}, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		m, at := e.delta.Manifest, e.delta.Log
		h = header{e.delta.Format, m.Partition, m.Generation, m.Time, m.Parent}
		if at.Checkpoint == 0 || at.Checkpoint >= m.Generation || at.Bytes < 0 || at.Deltas < 0 {
			return Entry{}, fmt.Errorf("%w: it is generation %d, and its checkpoint is generation %d", ErrDamaged, m.Generation, at.Checkpoint)
		}
		e.Checkpoint, e.content = at.Checkpoint, nil
	} else {
		if err := json.Unmarshal(e.content, &h); err != nil {
			return Entry{}, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		e.Checkpoint = h.Generation
	}
	if err := h.check(p); err != nil {
		return Entry{}, err
	}
	e.Generation, e.Time, e.Parent = h.Generation, h.Time, h.Parent
	return e, nil
}

// check fails if the generation is of another format or partition, or has no number.
func (h *header) check(p layout.Partition) error {
	if h.Format < minFormat || h.Format > format {
		return fmt.Errorf("it is of format %d, and this program reads formats %d to %d only: use the version that wrote it, or crawl into a new bucket", max(h.Format, 1), minFormat, format)
	}
	if h.Partition != p || h.Generation == 0 {
		return fmt.Errorf("%w: it is of partition %s, generation %d", ErrDamaged, h.Partition, h.Generation)
	}
	return nil
}

// IsWhole reports whether the generation is stored whole, and not as a delta.
func (e *Entry) IsWhole() bool { return e.delta == nil }

// After returns the generation that is stored as e, given the generation before it. If e is whole, the parameter
// is not used. If e is a delta that does not follow from the parameter, After fails with ErrDamaged.
func (e *Entry) After(before Manifest) (Manifest, error) {
	if e.IsWhole() {
		m, err := decodeWhole(e.content)
		m.hash, m.position = e.Hash, position{e.Generation, e.Time, e.bytes, 0}
		return m, err
	}
	if before.hash != e.Parent || before.Generation+1 != e.Generation {
		return Manifest{}, fmt.Errorf("%w: it follows another generation %d", ErrDamaged, e.Generation-1)
	}
	m, err := e.delta.apply(&before)
	if err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	m.hash, m.position = e.Hash, e.delta.Log
	m.position.Deltas += e.bytes
	return m, nil
}

// Decode parses a whole generation of partition p, or a hint, which is a copy of a generation. It
// fails as DecodeEntry does, and if the generation is a delta.
func Decode(p layout.Partition, stored []byte) (Manifest, error) {
	content, err := unseal(stored)
	if err != nil {
		return Manifest{}, err
	}
	if bytes.HasPrefix(content, []byte(deltaBegin)) {
		return Manifest{}, fmt.Errorf("%w: it is a delta, and not a whole generation", ErrDamaged)
	}
	var m Manifest
	d := document{Manifest: &m}
	if err := json.Unmarshal(content, &d); err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err := (&header{Format: d.Format, Partition: m.Partition, Generation: m.Generation}).check(p); err != nil {
		return Manifest{}, err
	}
	m.hash, m.position = layout.ContentHash(stored), position{m.Generation, m.Time, int64(len(stored)), 0}
	if d.Copy != nil {
		m.hash, m.position = d.Copy.Of, d.Copy.Log
	}
	return m, nil
}

func decodeWhole(content []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(content, &document{Manifest: &m}); err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return m, nil
}

// unseal returns the JSON of a stored generation, without its sum. It fails with ErrDamaged if it is
// not what was stored.
func unseal(stored []byte) ([]byte, error) {
	content := stored
	if !bytes.HasPrefix(stored, []byte("{")) { // older generations are not compressed
		var err error
		if content, err = decompress(stored); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	object, sealed, err := layout.Unseal(content)
	if err == nil && !sealed {
		err = errors.New("it has no sum")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return object, nil
}

// encode returns the bytes to store of a generation, given the one before: a delta, or the whole
// generation (see the package's comment for when). It also sets m.hash and m.position.
func (m *Manifest) encode(before *Manifest) ([]byte, error) {
	last := before.position
	var whole []byte // nil if the generation is not small
	if last.Bytes <= int64(Small) && len(m.CondemnedLists) == 0 {
		var err error
		if whole, err = m.EncodeWhole(); err != nil {
			return nil, err
		}
		if len(whole) > Small {
			whole = nil
		}
	}
	if whole == nil && before.Generation > 0 && m.Generation == before.Generation+1 && !m.restated &&
		m.Generation-last.Checkpoint < maxDeltas && m.Time.Sub(last.Time) < maxCheckpoints {
		stored, err := m.store(deltaOf(before, m))
		if err != nil && !errors.Is(err, ErrTooLarge) {
			return nil, err
		}
		if size := int64(len(stored)); err == nil && last.Deltas+size <= last.Bytes {
			last.Deltas += size
			m.hash, m.position = layout.ContentHash(stored), last
			return stored, nil
		}
	}
	if whole == nil {
		var err error
		if whole, err = m.EncodeWhole(); err != nil {
			return nil, err
		}
	}
	m.hash, m.position = layout.ContentHash(whole), position{m.Generation, m.Time, int64(len(whole)), 0}
	return whole, nil
}

// EncodeWhole returns the bytes of the generation in its whole form, whichever form it is stored in.
func (m *Manifest) EncodeWhole() ([]byte, error) {
	d := document{Format: format, Manifest: m}
	if len(m.CondemnedLists) == 0 {
		d.Format = minFormat
	}
	return m.store(d)
}

// encodeCopy returns the bytes of the hint, which is a copy of the generation.
func (m *Manifest) encodeCopy() ([]byte, error) {
	stored, err := m.EncodeWhole()
	if err != nil || layout.ContentHash(stored) == m.hash {
		return stored, err
	}
	return m.store(document{format, m, &origin{m.hash, m.position}})
}

// store returns the JSON of a generation with a sum (see layout.Seal), compressed by zstd.
func (m *Manifest) store(form any) ([]byte, error) {
	content, err := json.Marshal(form)
	if err != nil {
		return nil, fmt.Errorf("cannot encode manifest: %w", err)
	}
	if len(content) > largest {
		return nil, fmt.Errorf("generation %d of partition %s would take %d MiB, and at most %d MiB can be read: %w; move sites to another partition by a storage strategy",
			m.Generation, m.Partition, len(content)>>20, largest>>20, ErrTooLarge)
	}
	return compress(layout.Seal(content)), nil
}

// largest is the greatest size of the JSON of a generation, in bytes. It leaves room for the sum.
var largest = maxBytes - 1<<10
