package segment

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Source reads ranges of an object, independent ones together. What it returns
// is shared: nobody writes to it.
type Source interface {
	Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error)
}

// Ref is where a segment lies: its key, its size and the size of its tail, as
// TailOf tells it.
type Ref struct {
	Key         string
	Bytes, Tail int64
}

// Bytes is a Source of one object, whatever its key.
type Bytes []byte

// Read implements Source.
func (b Bytes) Read(ctx context.Context, _ string, ranges []blob.Range) ([][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	parts := make([][]byte, len(ranges))
	for i, r := range ranges {
		from, to, err := r.Within(int64(len(b)))
		if err != nil {
			return nil, err
		}
		parts[i] = b[from:to:to]
	}
	return parts, nil
}
