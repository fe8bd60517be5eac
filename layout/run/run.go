package run

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sort"

	"github.com/klauspost/compress/zstd"

	"github.com/bucketsearch/bucketsearch/layout"
)

// ErrDamaged means that an object is not a run, or that some of its bytes have changed.
var ErrDamaged = errors.New("run is damaged")

const (
	magic = "\xffRUNS\x02\r\n"
	// MaxState is the greatest length of a state, in bytes.
	MaxState    = 4 << 10
	blockURLs   = 1024      // greatest number of URLs in a block
	blockTarget = 64 << 10  // a block is closed when its records have so many bytes
	maxBlock    = 128 << 10 // greatest size of a block, in bytes, before and after compression

	urlBytes    = 4 + len(layout.Identity{})
	entryBytes  = urlBytes + 4 + 4 // length of an entry of the directory
	footerBytes = 4 + 4 + len(magic)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// URL names a URL in a run.
type URL struct {
	Site uint32 // hash of the URL's site (layout.Place.Site)
	ID   layout.Identity
}

// Compare returns a number below, equal to or above 0 if u comes before v, is v, or comes after v in a run. The
// order is that of places and identities.
func (u URL) Compare(v URL) int {
	return cmp.Or(cmp.Compare(u.Site, v.Site), slices.Compare(u.ID[:], v.ID[:]))
}

// Record is the state of a URL.
type Record struct {
	URL
	State string
}

// block is an entry of the directory.
type block struct {
	first  URL
	urls   int
	offset int64 // the directory has the sizes instead
	size   int64 // in bytes, compressed
}

// encoder compresses blocks. It is safe for concurrent use.
var encoder = func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(maxBlock), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // an option that is not valid
	}
	e.EncodeAll(nil, nil) // it makes its buffers at the first use
	return e
}()

// Encode returns a run with these records. Each URL must come after the one before it (see URL.Compare), and no state
// may be longer than MaxState.
func Encode(records []Record) ([]byte, error) {
	file := []byte(magic)
	var directory, filters []byte
	for from := 0; from < len(records); {
		to, size := from, 0
		for to < len(records) && to-from < blockURLs && size < blockTarget {
			if r := records[to]; len(r.State) > MaxState {
				return nil, fmt.Errorf("state of %s has %d bytes, want at most %d", r.ID, len(r.State), MaxState)
			}
			if to > 0 && records[to-1].Compare(records[to].URL) >= 0 {
				return nil, fmt.Errorf("%s in a run comes after %s, want them sorted", records[to].ID, records[to-1].ID)
			}
			size += urlBytes + len(records[to].State)
			to++
		}
		start := len(file)
		file = encoder.EncodeAll(columns(records[from:to]), file)
		filters = appendFilter(filters, records[from:to])
		directory = appendURL(directory, records[from].URL)
		directory = binary.BigEndian.AppendUint32(directory, uint32(to-from))
		directory = binary.BigEndian.AppendUint32(directory, uint32(len(file)-start))
		from = to
	}
	file = binary.BigEndian.AppendUint32(append(file, filters...), crc32.Checksum(filters, castagnoli))
	directory = binary.BigEndian.AppendUint32(directory, uint32(len(directory)/entryBytes))
	crc := crc32.Checksum(directory, castagnoli)
	file = binary.BigEndian.AppendUint32(append(file, directory...), crc)
	return append(file, magic...), nil
}

func appendURL(b []byte, u URL) []byte {
	return append(binary.BigEndian.AppendUint32(b, u.Site), u.ID[:]...)
}

func parseURL(b []byte) URL {
	return URL{binary.BigEndian.Uint32(b), layout.Identity(b[4:urlBytes])}
}

// columns returns the records of a block as they are before compression.
func columns(records []Record) []byte {
	var b []byte
	rows, longest := make([][]byte, len(records)), 0
	for i, r := range records {
		rows[i] = append(appendURL(nil, r.URL), r.State...)
		b = binary.BigEndian.AppendUint16(b, uint16(len(rows[i])))
		longest = max(longest, len(rows[i]))
	}
	for at := range longest {
		for _, row := range rows {
			if at < len(row) {
				b = append(b, row[at])
			}
		}
	}
	return b
}

// table is a block after decompression: its records as columns returns them.
type table struct {
	n       int    // number of records, also called rows
	lengths []byte // length of each record, u16
	cells   []byte // the columns, one after another
	longest int    // length of the longest record
}

// parseTable returns a block of n records after decompression, or false if their lengths are not those of records.
func parseTable(b []byte, n int) (t table, ok bool) {
	if len(b) < 2*n {
		return table{}, false
	}
	t, sum := table{n: n, lengths: b[:2*n], cells: b[2*n:]}, 0
	for row := range n {
		length := t.length(row)
		if length < urlBytes {
			return table{}, false
		}
		sum, t.longest = sum+length, max(t.longest, length)
	}
	return t, sum == len(t.cells)
}

func (t table) length(row int) int { return int(binary.BigEndian.Uint16(t.lengths[2*row:])) }

// url returns the name of a record's URL. Each record has a byte in the first columns.
func (t table) url(row int) URL {
	var name [urlBytes]byte
	for at := range name {
		name[at] = t.cells[at*t.n+row]
	}
	return parseURL(name[:])
}

// find returns the number of the row with a URL, or false if there is none.
func (t table) find(u URL) (row int, found bool) {
	return sort.Find(t.n, func(row int) int { return u.Compare(t.url(row)) })
}

// records returns the records in some rows, which must be given in ascending order. It reads each column once.
func (t table) records(rows []int) []Record {
	if len(rows) == 0 {
		return nil
	}
	states := make([][]byte, len(rows))
	for i, row := range rows {
		states[i] = make([]byte, 0, t.length(row)-urlBytes)
	}
	cells := t.cells[urlBytes*t.n:]
	for at := urlBytes; at < t.longest; at++ {
		next := 0 // index in rows
		for row := range t.n {
			has, wanted := at < t.length(row), next < len(rows) && rows[next] == row
			if has && wanted {
				states[next] = append(states[next], cells[0])
			}
			if has {
				cells = cells[1:]
			}
			if wanted {
				next++
			}
		}
	}
	records := make([]Record, len(rows))
	for i, row := range rows {
		records[i] = Record{t.url(row), string(states[i])}
	}
	return records
}

// all returns all records, or false if they are not sorted.
func (t table) all() ([]Record, bool) {
	rows := make([]int, t.n)
	for row := range rows {
		rows[row] = row
	}
	records := t.records(rows)
	for i := 1; i < len(records); i++ {
		if records[i-1].Compare(records[i].URL) >= 0 {
			return nil, false
		}
	}
	return records, true
}

// parseDirectory returns the directory of a run from the last bytes of the run, and the size of the directory with
// the footer after it. If the bytes do not have the whole directory, it returns only the size.
func parseDirectory(tail []byte) (blocks []block, size int64, err error) {
	if len(tail) < footerBytes || string(tail[len(tail)-len(magic):]) != magic {
		return nil, 0, fmt.Errorf("%w: it does not end as a run does", ErrDamaged)
	}
	footer := tail[len(tail)-footerBytes:]
	size = int64(binary.BigEndian.Uint32(footer))*int64(entryBytes) + int64(footerBytes)
	if size > int64(len(tail)) {
		return nil, size, nil
	}
	directory := tail[int64(len(tail))-size : len(tail)-footerBytes+4]
	if crc32.Checksum(directory, castagnoli) != binary.BigEndian.Uint32(footer[4:]) {
		return nil, 0, fmt.Errorf("%w: the checksum of its directory does not match", ErrDamaged)
	}
	offset := int64(len(magic))
	for ; len(directory) >= entryBytes; directory = directory[entryBytes:] {
		numbers := directory[urlBytes:]
		b := block{parseURL(directory), int(binary.BigEndian.Uint32(numbers)), offset, int64(binary.BigEndian.Uint32(numbers[4:]))}
		if b.urls == 0 || b.urls > blockURLs || b.size == 0 || b.size > maxBlock || len(blocks) > 0 && blocks[len(blocks)-1].first.Compare(b.first) >= 0 {
			return nil, 0, fmt.Errorf("%w: its directory is not that of a run", ErrDamaged)
		}
		blocks, offset = append(blocks, b), offset+b.size
	}
	return blocks, size, nil
}
