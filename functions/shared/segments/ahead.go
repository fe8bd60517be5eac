package segments

import (
	"iter"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Sizes of the chunks in which tokens are made ahead of their use. They take 64 KiB in all.
const (
	aheadChunks = 4   // number of chunks
	aheadTokens = 256 // number of tokens in a chunk
)

// ahead makes tokens in one goroutine while another goroutine uses them, so that two processors
// share the work. It runs one sequence at a time.
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

// of returns a sequence of the same tokens as the sequence in the parameter tokens. It runs that
// sequence in another goroutine, which is some tokens ahead of the caller. If the caller stops
// early, the rest of the tokens is made and dropped. A panic in the other goroutine becomes a panic
// in the caller's goroutine.
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
