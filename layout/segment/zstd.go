package segment

import "github.com/klauspost/compress/zstd"

// The compressors keep some memory, and nothing of what went through them, so
// all segments share them. They are made, and warm, before main begins, lest
// they belong to the first test that uses them.
var (
	encoder = newEncoder()
	decoder = newDecoder()
)

func newEncoder() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // an option that is not valid
	}
	e.EncodeAll(nil, nil)
	return e
}

func newDecoder() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxColumn), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // an option that is not valid
	}
	return d
}

// compress appends what content becomes.
func compress(dst, content []byte) []byte { return encoder.EncodeAll(content, dst) }

// decompress returns what was compressed, in the memory of dst if it is enough.
func decompress(dst, compressed []byte) ([]byte, error) {
	content, err := decoder.DecodeAll(compressed, dst[:0])
	if err != nil {
		return nil, damaged("%w", err)
	}
	return content, nil
}
