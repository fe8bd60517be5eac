package manifest

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// maxBytes is how large a generation may be, uncompressed.
const maxBytes = 256 << 20

// The compressors keep some memory, and nothing of what went through them. They
// are made before main begins, lest they belong to the first test that uses
// them.
var (
	encoder = newEncoder()
	decoder = newDecoder()
)

func newEncoder() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // an option that is not valid
	}
	e.EncodeAll(nil, nil)
	return e
}

func newDecoder() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBytes), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // an option that is not valid
	}
	return d
}

func compress(content []byte) []byte { return encoder.EncodeAll(content, nil) }

func decompress(stored []byte) ([]byte, error) {
	content, err := decoder.DecodeAll(stored, nil)
	if err != nil {
		return nil, fmt.Errorf("it cannot be decompressed: %w", err)
	}
	return content, nil
}
