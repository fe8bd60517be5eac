package search

import (
	"context"
	"time"
)

// deadline is a context, and those that end earlier: then what was found is
// told.
type deadline struct {
	context.Context
	read context.Context // what is not read by then is left out
	scan context.Context // what was read is searched until then
}

// withDeadline returns the deadline of a query: its own, or so long before
// ctx's that a quarter of the time remains to read the hits. Of the time until
// then three quarters are for reading.
func withDeadline(ctx context.Context, at time.Time) (deadline, context.CancelFunc) {
	if end, ends := ctx.Deadline(); ends {
		if earlier := end.Add(-time.Until(end) / 4); at.IsZero() || earlier.Before(at) {
			at = earlier
		}
	}
	if at.IsZero() {
		return deadline{ctx, ctx, ctx}, func() {}
	}
	scan, cancelScan := context.WithDeadline(ctx, at)
	read, cancelRead := context.WithDeadline(scan, at.Add(-time.Until(at)/4))
	return deadline{ctx, read, scan}, func() { cancelRead(); cancelScan() }
}

// without returns ctx as a deadline of itself.
func without(ctx context.Context) deadline { return deadline{ctx, ctx, ctx} }

// passed reports whether the time of one of d's contexts is up, and the caller
// still waits.
func (d deadline) passed(of context.Context) bool { return of.Err() != nil && d.Err() == nil }
