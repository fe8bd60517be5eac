package query

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Engine answers from the bucket alone. It is safe for concurrent use.
type Engine struct {
	Bucket   blob.Reader
	Settings *settings.Cache
	Now      func() time.Time
	Age      time.Duration // how old the manifests may be

	snapshots snapshots
}

// Result is what a search found.
type Result struct {
	segment.Result
	Took time.Duration
}

// Search searches all partitions. It fails with segment.ErrDamaged when one of
// their segments cannot be used: what it holds would be missing unnoticed.
func (e *Engine) Search(ctx context.Context, q segment.Query) (Result, error) {
	began := e.Now()
	current, err := e.snapshots.get(ctx, e)
	if err != nil {
		return Result{}, err
	}
	found, err := current.index.Search(ctx, q)
	if err != nil {
		return Result{}, fmt.Errorf("cannot search: %w", err)
	}
	return Result{found, e.Now().Sub(began)}, nil
}
