package segment

import (
	"encoding/binary"
	"slices"
)

// Distinct returns another segment of the same documents. Of one that Build
// returned, every number makes bytes of their own, so that it can be stored
// under a content hash that was never used.
func Distinct(content []byte, number uint64) []byte {
	footer := content[len(content)-footerSize:]
	inner := content[len(magic) : len(content)-footerSize]
	records := binary.BigEndian.Uint64(footer)
	rows := records + binary.BigEndian.Uint64(footer[8:])
	salted := binary.BigEndian.AppendUint64(slices.Clone(inner[records:rows]), number)
	return seal(inner[:records], salted, inner[rows:])
}
