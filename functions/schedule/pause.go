package schedule

import (
	"context"
	"sync"

	"github.com/bucketsearch/bucketsearch/strategy/control"
)

// pause remembers for what reason the crawl is paused, "" when it goes on.
type pause struct {
	mu     sync.Mutex // protects reason
	reason string
}

// is notes a reason and reports whether it is another than before.
func (p *pause) is(reason string) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed = p.reason != reason
	p.reason = reason
	return changed
}

// paused reports whether nothing is leased now, and logs when that changes.
func (f *Function) paused(ctx context.Context, c control.Document) bool {
	inForce := c.Paused(f.Now())
	if inForce == nil {
		if f.pause.is("") {
			f.Log.InfoContext(ctx, "the crawl goes on")
		}
		return false
	}
	if f.pause.is(inForce.Reason) {
		f.Log.InfoContext(ctx, "the crawl is paused", "by", inForce.By, "reason", inForce.Reason)
	}
	return true
}
