package segment

import (
	"encoding/binary"
	"hash/crc32"
)

const sealSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal appends the CRC-32C of what follows the first from bytes.
func seal(content []byte, from int) []byte {
	return binary.BigEndian.AppendUint32(content, crc32.Checksum(content[from:], castagnoli))
}

// unseal returns what seal has sealed.
func unseal(sealed []byte) ([]byte, error) {
	end := len(sealed) - sealSize
	if end < 0 {
		return nil, damaged("%d bytes are too few for a checksum", len(sealed))
	}
	if crc32.Checksum(sealed[:end], castagnoli) != binary.BigEndian.Uint32(sealed[end:]) {
		return nil, damaged("its checksum is wrong")
	}
	return sealed[:end:end], nil
}
