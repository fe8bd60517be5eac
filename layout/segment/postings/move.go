package postings

import (
	"encoding/binary"
	"fmt"
)

// AppendMoved appends a list whose documents are as many further as it says:
// the bytes that an Encoder would make of them. It reads no more of the list
// than that needs. Errors wrap ErrDamaged.
func AppendMoved(dst, list []byte, by uint32) ([]byte, error) {
	l := List{data: list}
	data, ok := l.readHeader(list)
	if ok && l.summary.Documents > BlockSize {
		if ok = l.openBlocks(data); ok {
			dst, data = l.appendMovedDirectory(dst, data, by)
		}
	} else {
		dst = append(dst, list[:len(list)-len(data)]...)
	}
	first, width := binary.Uvarint(data)
	if !ok || width <= 0 || first+uint64(by) >= NoMore {
		return dst, fmt.Errorf("list of %d bytes, %d documents further: %w", len(list), by, ErrDamaged)
	}
	dst = binary.AppendUvarint(dst, first+uint64(by))
	return append(dst, data[width:]...), nil
}

// appendMovedDirectory appends what is before the blocks of an opened list, and
// returns the blocks. data is what follows the header.
func (l *List) appendMovedDirectory(dst, data []byte, by uint32) (moved, blocks []byte) {
	for range Fields {
		_, data, _ = readNumber(data)
	}
	_, data, _ = readImpacts(nil, data)
	dst = append(dst, l.data[:len(l.data)-len(data)]...)
	blocks = l.data[l.blocks[0].at:]
	first, width := binary.Uvarint(blocks)
	widened := len(binary.AppendUvarint(nil, first+uint64(by))) - width
	before, data, _ := readNumber(data)
	size, data, _ := readNumber(data)
	dst = binary.AppendUvarint(dst, uint64(before)+uint64(by))
	dst = binary.AppendUvarint(dst, uint64(int(size)+widened))
	return append(dst, data[:len(data)-len(blocks)]...), blocks
}
