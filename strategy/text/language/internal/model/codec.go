package model

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Model holds all tables of weights by which languages are identified.
type Model struct {
	Scripts [Scripts]Classes // table of each script; without Codes if the script needs none
	Close   []Classes        // tables of whole words, which distinguish very similar languages
}

// ErrDamaged means that the data was not made by Encode, or has changed since then.
var ErrDamaged = errors.New("language model is damaged")

// The kinds of tables in the file of a model.
const (
	runs  byte = iota // tells the languages of one script apart, by n-grams and whole words
	words             // tells very similar languages apart, by whole words only
)

const maxSize = 64 << 20 // maximum number of bytes that are read of a file after decompression; the rest is ignored

// Encode returns the model as a file (see the package comment). It fails if a table is too large:
// it has more than maxClasses classes or more than 1<<maxBits rows. It also fails if the number of
// a table's weights is not the product of classes and rows.
func (m *Model) Encode() ([]byte, error) {
	var raw []byte
	for _, c := range slices.Concat(m.Scripts[:], m.Close) {
		n := len(c.Codes)
		if n > maxClasses || c.Bits > maxBits || len(c.Weights) != n<<c.Bits {
			return nil, fmt.Errorf("cannot encode the table of %v: %d weights for %d bits", c.Codes, len(c.Weights), c.Bits)
		}
		if n == 0 {
			continue
		}
		kind := runs
		if c.Words {
			kind = words
		}
		raw = append(raw, kind, byte(c.Script), byte(c.Bits), byte(n))
		raw = binary.BigEndian.AppendUint32(raw, math.Float32bits(c.Scale))
		for _, code := range c.Codes {
			raw = append(append(raw, byte(len(code))), code...)
		}
		for i := range n {
			for at := i; at < len(c.Weights); at += n {
				raw = append(raw, byte(c.Weights[at]))
			}
		}
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// Decode returns the model that is encoded in data, a file made by Encode. It fails with
// ErrDamaged if data is not such a file.
func Decode(data []byte) (*Model, error) {
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), maxSize))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	m := new(Model)
	for len(raw) > 0 {
		if raw, err = m.table(raw); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// table decodes the table at the beginning of raw, adds it to the model, and returns the
// rest of raw.
func (m *Model) table(raw []byte) ([]byte, error) {
	const header = 8
	if len(raw) < header || raw[0] > words || raw[1] >= byte(Scripts) || raw[2] > maxBits || raw[3] == 0 || raw[3] > maxClasses {
		return nil, ErrDamaged
	}
	c, n := Classes{Words: raw[0] == words, Script: Script(raw[1]), Bits: int(raw[2])}, int(raw[3])
	c.Scale = math.Float32frombits(binary.BigEndian.Uint32(raw[4:]))
	raw = raw[header:]
	for range n {
		if len(raw) == 0 || len(raw) <= int(raw[0]) {
			return nil, ErrDamaged
		}
		c.Codes = append(c.Codes, string(raw[1:1+raw[0]]))
		raw = raw[1+raw[0]:]
	}
	rows := 1 << c.Bits
	if len(raw) < n*rows {
		return nil, ErrDamaged
	}
	c.Weights = make([]int8, n*rows)
	for i := range n {
		for row, w := range raw[i*rows : (i+1)*rows] {
			c.Weights[row*n+i] = int8(w)
		}
	}
	c.pack()
	if c.Words {
		m.Close = append(m.Close, c)
	} else {
		m.Scripts[c.Script] = c
	}
	return raw[n*rows:], nil
}
