package verify

import (
	"context"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
)

// backlog holds the URLs that are pending according to the frontiers.
type backlog struct {
	mu sync.Mutex // protects ids
	// pending URLs of the frontiers: true if the URL is also pending in the books; nil if no
	// frontiers are checked
	ids map[layout.Identity]bool
}

// readFrontiers reads the pending URLs of the frontiers into v.waiting, and reports URLs that are
// pending in two frontiers. It does nothing if Verifier.Frontiers is nil, or if a book or
// generation could not be read.
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

// pending records that a URL is pending according to the books, and reports the URL if it is
// pending in no frontier. It does nothing if the frontiers were not read.
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

// judgeFrontiers reports the URLs that are pending in a frontier and not in the books.
func (v *run) judgeFrontiers() {
	for id, pending := range v.waiting.ids {
		if !pending {
			v.problems.add(Problem{Kind: Behind, URL: id.String(), Detail: "waits in the frontier, and is not pending in the books"})
		}
	}
	v.waiting.ids = nil
}
