package webobject

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

func TestCombineCRC(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 2, 3, 7, 8, 255, 4096, 100_003} {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		for _, cut := range []int{0, size / 3, size} {
			got := combineCRC(crc32.ChecksumIEEE(b[:cut]), crc32.ChecksumIEEE(b[cut:]), int64(size-cut))
			if want := crc32.ChecksumIEEE(b); got != want {
				t.Errorf("%d bytes cut at %d: CRC-32 %08x, want %08x", size, cut, got, want)
			}
		}
	}
}
