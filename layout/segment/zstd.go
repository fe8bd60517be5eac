package segment

import (
	"github.com/klauspost/compress/zstd"
)

func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithWindowSize(1<<20))
}

// decoder reads what encoders of the package made. It is shared by all
// segments, because it keeps some memory, and holds nothing of what it read.
// It is made before main begins, lest it belong to the first test that uses it.
var decoder, errDecoder = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxColumn), zstd.WithDecoderLowmem(true))

// decompress returns what was compressed, in the memory of dst if it is enough.
func decompress(dst, compressed []byte) ([]byte, error) {
	if errDecoder != nil {
		return nil, errDecoder
	}
	content, err := decoder.DecodeAll(compressed, dst[:0])
	if err != nil {
		return nil, damaged("%w", err)
	}
	return content, nil
}
