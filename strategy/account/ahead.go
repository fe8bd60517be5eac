package account

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

const (
	aheadBytes = 16 << 20 // greatest sum of the bytes that are kept of all books
	mostAhead  = 1 << 20  // greatest number of bytes in one request that reads ahead
	leastAhead = 64 << 10
)

// ahead reads one book for callers that read it range by range, in ascending order. The ranges of the hash space
// are small, and a book has few bytes in each. So ahead requests more than it is asked for: the first time
// exactly the range, and each time that the next range follows, twice as much as before, but no byte that it still has.
// Without that, the number of requests would be that of ranges times that of books.
//
// It keeps the last bytes that it has read at two places, because the outcomes and the links of a range are at two
// places of a book. It is safe for concurrent use.
type ahead struct {
	blob.Reader
	most int64 // greatest number of bytes in a request that reads ahead

	mu   sync.Mutex // protects kept; it is locked during a request, so that nothing is requested twice
	kept [2]run     // the last used one is first
}

// run is a run of consecutive bytes of an object.
type run struct {
	offset  int64
	content []byte
}

// newAhead returns the reader of one of the given number of books.
func newAhead(reader blob.Reader, books int) *ahead {
	return &ahead{Reader: reader, most: min(mostAhead, max(leastAhead, aheadBytes/int64(2*max(1, books))))}
}

// Get implements blob.Reader.
func (a *ahead) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	if r.Offset < 0 || r.Length == 0 || r.Length > a.most {
		return a.Reader.Get(ctx, key, r)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	used, known, next, size := len(a.kept)-1, []byte(nil), r.Offset, r.Length
	for i, k := range a.kept {
		from, end := r.Offset-k.offset, int64(len(k.content))
		switch {
		case from < 0 || from > end || end == 0:
		case from+r.Length <= end:
			a.use(i, k)
			return k.content[from : from+r.Length], nil
		default: // r begins in the run, or follows it
			used, known, next = i, k.content[from:], k.offset+end
			size = max(r.Length-int64(len(known)), min(2*end, a.most))
		}
	}
	content, err := a.Reader.Get(ctx, key, blob.Range{Offset: next, Length: size})
	if err != nil && !(errors.Is(err, blob.ErrRange) && len(known) > 0) { // the object may end where the run does
		return nil, err
	}
	content = slices.Concat(known, content)
	a.use(used, run{r.Offset, content})
	return content[:min(r.Length, int64(len(content)))], nil
}

// use puts a run in place of the i-th, and in front of the other.
func (a *ahead) use(i int, r run) {
	a.kept[i] = r
	a.kept[0], a.kept[i] = a.kept[i], a.kept[0]
}
