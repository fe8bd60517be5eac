package fetch

import (
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Moment is the state of a batch at a moment of its fetch.
type Moment struct {
	Batch layout.Version
	Host  string
	// Next is the time before which the next request of the batch is not sent: because of the delay
	// between requests, or because the host asked for a pause. It is zero while the batch waits for no
	// such time, for example while a request is under way.
	Next time.Time
	// Pages is the number of pages that have arrived so far, without those whose URL was stored before.
	// Some of these pages may turn out to be of a type that is not stored.
	Pages int
}

// tell calls Function.Watch with the state of the batch. The parameter next is the field Next.
func (r *run) tell(next time.Time) {
	if r.f.Watch != nil {
		r.f.Watch(Moment{Batch: r.batch.Version, Host: r.batch.Host, Next: next, Pages: r.pages})
	}
}
