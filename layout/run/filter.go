package run

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

const (
	filterBits   = 10 // number of bits of a block's filter for each URL of the block
	filterHashes = 7  // number of bits that a URL sets
	checksumSize = 4  // bytes of the checksum after the filters
	// mostFiltered is the greatest number of identities for which FindIDs reads the filters: of more, some may be in
	// most blocks by the filters' errors alone.
	mostFiltered = 64
)

// filterSize returns the size in bytes of the filter of a block with so many URLs.
func filterSize(urls int) int { return (filterBits*urls + 7) / 8 }

// bitsOf yields the bits of an identity in a filter of so many bytes.
func bitsOf(id layout.Identity, size int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		at, step := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])|1
		for range filterHashes {
			if !yield(at % uint64(8*size)) {
				return
			}
			at += step
		}
	}
}

// appendFilter appends the filter of a block with these records.
func appendFilter(b []byte, records []Record) []byte {
	from, size := len(b), filterSize(len(records))
	b = append(b, make([]byte, size)...)
	for _, r := range records {
		for bit := range bitsOf(r.ID, size) {
			b[from+int(bit/8)] |= 1 << (bit % 8)
		}
	}
	return b
}

// mayHave reports whether a block with this filter may have a URL with the identity.
func mayHave(filter []byte, id layout.Identity) bool {
	for bit := range bitsOf(id, len(filter)) {
		if filter[bit/8]>>(bit%8)&1 == 0 {
			return false
		}
	}
	return true
}

// FindIDs returns the records of the URLs with these identities, of which the sites are not known. For few identities it
// reads the filters, which have a tenth of the size of the run, and then those blocks that may have the URLs: that is
// one of some hundred blocks that do not have a URL. For many it reads the whole run.
func (r *Reader) FindIDs(ctx context.Context, ids map[layout.Identity]bool) (found []Record, err error) {
	wanted := allOf(r.blocks)
	if len(ids) <= mostFiltered {
		if wanted, err = r.filtered(ctx, ids); err != nil {
			return nil, r.wrap(err)
		}
	}
	err = r.read(ctx, wanted, func(at int, t table) error {
		records, err := r.records(at, t)
		for _, one := range records {
			if ids[one.ID] {
				found = append(found, one)
			}
		}
		return err
	})
	return found, r.wrap(err)
}

// filtered returns the indexes of the blocks that may have URLs with these identities.
func (r *Reader) filtered(ctx context.Context, ids map[layout.Identity]bool) (wanted []int, err error) {
	if len(r.blocks) == 0 || len(ids) == 0 {
		return nil, nil
	}
	last, size := r.blocks[len(r.blocks)-1], 0
	for _, b := range r.blocks {
		size += filterSize(b.urls)
	}
	read, err := r.cache.Read(ctx, r.key, []blob.Range{{Offset: last.offset + last.size, Length: int64(size + checksumSize)}})
	if errors.Is(err, blob.ErrRange) || err == nil && len(read[0]) != size+checksumSize {
		return nil, fmt.Errorf("%w: it has no whole filters", ErrDamaged)
	}
	if err != nil {
		return nil, err
	}
	filters := read[0]
	if crc32.Checksum(filters[:size], castagnoli) != binary.BigEndian.Uint32(filters[size:]) {
		return nil, fmt.Errorf("%w: the checksum of its filters does not match", ErrDamaged)
	}
	for i, b := range r.blocks {
		for id := range ids {
			if mayHave(filters[:filterSize(b.urls)], id) {
				wanted = append(wanted, i)
				break
			}
		}
		filters = filters[filterSize(b.urls):]
	}
	return wanted, nil
}

// allOf returns the indexes of all blocks.
func allOf(blocks []block) []int {
	all := make([]int, len(blocks))
	for i := range all {
		all[i] = i
	}
	return all
}
