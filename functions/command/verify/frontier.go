package verify

import (
	"context"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
)

// backlog holds the URLs that are pending according to the frontiers (the queues of URLs in Redis).
type backlog struct {
	mu sync.Mutex // protects ids
	// An entry for each URL that is pending in a frontier. It is false at first, and becomes true once
	// the method pending finds that the URL is also pending according to the outcomes and links on
	// record. The map is nil if no frontiers are checked.
	ids map[layout.Identity]bool
}

// readFrontiers reads the pending URLs of the frontiers (the queues of URLs in Redis) into
// v.waiting, and reports URLs that are pending in two frontiers. It does nothing if
// Verifier.Frontiers is nil, or if a book or manifest could not be read.
func (v *run) readFrontiers(ctx context.Context) error {
	if v.Frontiers == nil || v.incomplete() {
		return nil
	}
	v.waiting.ids = make(map[layout.Identity]bool)
	in := make(map[layout.Identity]int)
	for i, front := range v.Frontiers {
		for id, err := range front.Pending(ctx) {
			if err != nil {
				return err
			}
			if other, found := in[id]; found && other != i {
				v.problems.add(Problem{Kind: Double, URL: id.String(), Detail: "waits in two frontiers"})
			}
			in[id] = i
			v.waiting.ids[id] = false
		}
	}
	return nil
}

// pending records that a URL is pending according to the outcomes and links in books, and reports
// the URL if it is pending in no frontier. It does nothing if the frontiers were not read.
func (v *run) pending(id layout.Identity, url string) {
	w := &v.waiting
	if w.ids == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, found := w.ids[id]; !found {
		v.problems.add(Problem{Kind: Behind, URL: url, Detail: "is pending in the books, and not in the frontier"})
		return
	}
	w.ids[id] = true
}

// judgeFrontiers reports the URLs that are pending in a frontier, although they are not pending
// according to the outcomes and links in books.
func (v *run) judgeFrontiers() {
	for id, pending := range v.waiting.ids {
		if !pending {
			v.problems.add(Problem{Kind: Behind, URL: id.String(), Detail: "waits in the frontier, and is not pending in the books"})
		}
	}
	v.waiting.ids = nil
}
