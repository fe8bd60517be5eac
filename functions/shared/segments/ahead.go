package segments

import (
	"iter"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Sizes of the buffer of the type ahead (see there). The buffer takes 256 KiB. With smaller chunks,
// waking the goroutine that waits for the next chunk would take a noticeable part of the time.
const (
	aheadChunks = 4    // number of chunks of tokens that are buffered
	aheadTokens = 1024 // greatest number of tokens in a chunk
)

// ahead makes tokens in one goroutine while another goroutine uses them, so that two processors
// share the work. It serves one sequence of tokens at a time.
type ahead struct {
	free chan []segment.Token // chunks that are empty, to be filled
}

func newAhead() ahead {
	a := ahead{free: make(chan []segment.Token, aheadChunks)}
	for range aheadChunks {
		a.free <- make([]segment.Token, 0, aheadTokens)
	}
	return a
}

// of returns a sequence that yields the same tokens as the given sequence. The given sequence runs in a
// goroutine of its own, some tokens ahead of the reader of the returned sequence. If the reader stops
// early, the goroutine still runs to the end, and its further tokens are thrown away. If the given
// sequence panics, the returned one panics, too.
func (a ahead) of(tokens iter.Seq[segment.Token]) iter.Seq[segment.Token] {
	return func(yield func(segment.Token) bool) {
		made := make(chan []segment.Token, aheadChunks)
		var broken any
		go func() {
			defer close(made)
			defer func() { broken = recover() }()
			chunk := <-a.free
			for token := range tokens {
				if chunk = append(chunk, token); len(chunk) == cap(chunk) {
					made <- chunk
					chunk = <-a.free
				}
			}
			made <- chunk
		}()
		more := true
		for chunk := range made {
			for i := 0; i < len(chunk) && more; i++ {
				more = yield(chunk[i])
			}
			a.free <- chunk[:0]
		}
		if broken != nil {
			panic(broken)
		}
	}
}
