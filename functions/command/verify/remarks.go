package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// maxNamed is the greatest number of URLs that a note of the report names.
const maxNamed = 5

// remarks collects the stored pages whose text is incomplete or uncertain. It groups them by the reason
// for this, such as book.Panicked: the parser crashed. The method add is safe for concurrent use.
type remarks struct {
	mu    sync.Mutex           // protects pages
	pages map[string]*remarked // by reason, the pages whose outcomes give this reason
}

// remarked describes the stored pages whose outcomes have the same reason.
type remarked struct {
	count int
	named []string // the first maxNamed of the pages' URLs, sorted
}

// add adds a stored page. The parameter reason is the reason in the page's outcome: why the text of
// the page is incomplete or uncertain. If it is "", the text is complete, and add does nothing.
func (r *remarks) add(reason, url string) {
	if reason == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pages == nil {
		r.pages = make(map[string]*remarked)
	}
	with := r.pages[reason]
	if with == nil {
		with = &remarked{}
		r.pages[reason] = with
	}
	with.count++
	at, _ := slices.BinarySearch(with.named, url)
	with.named = slices.Insert(with.named, at, url)
	with.named = with.named[:min(len(with.named), maxNamed)]
}

// notes returns a sentence for each reason why the text of stored pages is incomplete or uncertain,
// with the number of these pages and some of their URLs.
func (r *remarks) notes() (notes []string) {
	for _, reason := range slices.Sorted(maps.Keys(r.pages)) {
		with := r.pages[reason]
		names := strings.Join(with.named, ", ")
		if with.count > len(with.named) {
			names += ", …"
		}
		notes = append(notes, fmt.Sprintf("stored, but not known in full or for certain: %d (%s): %s", with.count, reason, names))
	}
	return notes
}
