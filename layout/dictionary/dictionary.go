package dictionary

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"
	"sort"
)

// Caps on the content of a dictionary.
const (
	MaxSources      = 1 << 17  // greatest number of terms that are translated
	MaxTranslations = 8        // greatest number of translations of a term
	MaxBytes        = 16 << 20 // greatest size of an encoded dictionary, in bytes
	maxString       = 255      // greatest size of a term or of a language's name, in bytes
)

const (
	magic      = "\xFFBDIC"
	version    = 1
	versionEnd = "\r\n"
	start      = len(magic) + 1 + len(versionEnd) // offset of the version that a reader must at least have
	sealSize   = 4                                // size of the checksum, in bytes
	certain    = 255                              // byte that stands for the probability 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Errors of Open.
var (
	ErrDamaged = errors.New("the dictionary is damaged")
	ErrVersion = errors.New("the dictionary is of a newer format")
)

// Translation is one translation of a term of the language Dictionary.From: a term of the language
// Dictionary.To, with the probability of this translation.
type Translation struct {
	Term        string
	Probability float64 // above 0, at most 1
}

// Entry holds the translations of a term of the language Dictionary.From, the most probable first.
type Entry struct {
	Term         string
	Translations []Translation
}

// Dictionary is an opened dictionary. It is immutable and safe for concurrent use.
type Dictionary struct {
	From, To string // primary subtags of languages (RFC 5646), such as en
	data     []byte
	targets  []uint32 // offset in data of each term that is a translation
	sources  []uint32 // offset in data of each term that is translated
}

// Encode returns the bytes of a dictionary. The entries must be in ascending order of their terms,
// and within the caps. A probability is rounded to a multiple of 1/255, but never to 0.
func Encode(from, to string, entries []Entry) ([]byte, error) {
	index := make(map[string]int)
	for _, e := range entries {
		for _, t := range e.Translations {
			index[t.Term] = 0
		}
	}
	b := append([]byte(magic), version)
	b = append(append(b, versionEnd...), version)
	b = appendString(appendString(b, from), to)
	b = binary.AppendUvarint(b, uint64(len(index)))
	for i, term := range slices.Sorted(maps.Keys(index)) {
		index[term] = i
		b = appendString(b, term)
	}
	b = binary.AppendUvarint(b, uint64(len(entries)))
	for _, e := range entries {
		b = appendString(b, e.Term)
		b = binary.AppendUvarint(b, uint64(len(e.Translations)))
		for _, t := range e.Translations {
			b = binary.AppendUvarint(b, uint64(index[t.Term]))
			b = append(b, byte(min(max(math.Round(t.Probability*certain), 1), certain)))
		}
	}
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := Open(b); err != nil {
		return nil, fmt.Errorf("cannot encode a dictionary: %w", err)
	}
	return b, nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Open opens an encoded dictionary, and checks all of it. The dictionary keeps content, which must
// not be changed any more. Errors wrap ErrDamaged or ErrVersion.
func Open(content []byte) (*Dictionary, error) {
	if len(content) > MaxBytes {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrDamaged, len(content), MaxBytes)
	}
	if len(content) < start+1+sealSize || string(content[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not begin as a dictionary", ErrDamaged)
	}
	end := len(content) - sealSize
	if crc32.Checksum(content[:end], castagnoli) != binary.BigEndian.Uint32(content[end:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong", ErrDamaged)
	}
	if least := content[start]; least > version {
		return nil, fmt.Errorf("%w: it asks for a reader of version %d, this program reads %d", ErrVersion, least, version)
	}
	d := &Dictionary{data: content[:end:end]}
	p := parser{data: d.data, at: start + 1}
	d.From, d.To = string(p.text()), string(p.text())
	d.targets = p.ascending(end, func() {})
	d.sources = p.ascending(MaxSources, func() {
		most := certain + 1
		for range p.count(1, MaxTranslations) {
			p.failed = p.failed || len(d.targets) == 0
			p.number(uint64(len(d.targets) - 1))
			probability := p.byte()
			if probability == 0 || int(probability) > most {
				p.failed = true
			}
			most = int(probability)
		}
	})
	if p.failed || p.at != end {
		return nil, fmt.Errorf("%w: it does not hold what it tells of", ErrDamaged)
	}
	return d, nil
}

// Terms returns the number of terms that the dictionary translates.
func (d *Dictionary) Terms() int { return len(d.sources) }

// Size returns the approximate size of the dictionary in memory, in bytes.
func (d *Dictionary) Size() int64 {
	return int64(len(d.data) + 4*(len(d.targets)+len(d.sources)) + 128)
}

// Lookup returns the translations of a term, the most probable first; nil if it has none.
func (d *Dictionary) Lookup(term string) []Translation {
	n, found := sort.Find(len(d.sources), func(i int) int {
		p := parser{data: d.data, at: int(d.sources[i])}
		return cmp.Compare(term, string(p.text()))
	})
	if !found {
		return nil
	}
	p := parser{data: d.data, at: int(d.sources[n])}
	p.text()
	translations := make([]Translation, p.number(MaxTranslations))
	for i := range translations {
		of := parser{data: d.data, at: int(d.targets[p.number(math.MaxUint32)])}
		translations[i] = Translation{string(of.text()), float64(p.byte()) / certain}
	}
	return translations
}
