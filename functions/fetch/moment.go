package fetch

import (
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Moment is the state of a batch at a moment of its fetch.
type Moment struct {
	Batch layout.Version
	Host  string
	// time before which the batch's next request is not sent, because of the delay between requests or
	// because the host asked for a pause; zero while no request waits
	Next time.Time
	// number of answers with a new page so far, without pages that were stored before; some of them may
	// turn out to be of a type that is not stored
	Pages int
}

// tell calls Function.Watch with the state of the batch. The parameter next is the field Next.
func (r *run) tell(next time.Time) {
	if r.f.Watch != nil {
		r.f.Watch(Moment{Batch: r.batch.Version, Host: r.batch.Host, Next: next, Pages: r.pages})
	}
}
