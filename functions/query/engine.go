package query

import (
	"context"
	"fmt"
	"log/slog"
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
	Log      *slog.Logger

	snapshots snapshots
}

// Result is what a search found.
type Result struct {
	segment.Result
	Took time.Duration
	// Incomplete says that a segment is damaged or gone, so that pages are
	// missing from what was found until it has been built again.
	Incomplete bool
}

// Search searches all partitions.
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
	return Result{found, e.Now().Sub(began), len(current.missing) > 0}, nil
}
