package ingest

import (
	"context"
	"errors"
	"net/http"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// standings says what is stored about URLs before the import. For each URL it has the few outcomes
// (results of requests) that determine whether the URL is stored, skipped, failed or pending.
type standings map[layout.Identity]*book.Standing

// add updates the state of a URL (its book.Standing) with one of the URL's outcomes.
func (known standings) add(o *book.Outcome) {
	id := o.Identity()
	if known[id] == nil {
		known[id] = new(book.Standing)
	}
	last := *o
	known[id].Add(&last)
}

// final returns the last outcome of a URL, not counting outcomes whose State is Retry. It returns nil
// if there is none, or if the last outcome is about a page that was stored but is lost by now.
func (known standings) final(id layout.Identity) *book.Outcome {
	s := known[id]
	switch {
	case s == nil || s.Final == nil || s.Final.State == book.Lost:
		return nil
	case s.Final.State == book.Unchanged && (s.Page == nil || s.Page.State == book.Lost):
		return nil
	}
	return s.Final
}

// readStandings reads the books (recorded outcomes) and spool objects (batches not packed yet) of
// all partitions. The function wanted decides by a URL's identity whether the URL is wanted. For
// each wanted URL, readStandings returns the outcomes that determine its state (see book.Standing).
// Of other URLs it keeps nothing in memory. Of each manifest that it reads, it returns what epoch.Claim needs.
func readStandings(ctx context.Context, bucket blob.Reader, s *settings.Settings, wanted func(layout.Identity) bool) (known standings, read []manifest.Manifest, err error) {
	known = make(standings)
	for _, p := range s.Partitions() {
		// The spool is read before the manifest: a batch that is packed in between is in the books.
		spooled, err := blob.List(ctx, bucket, layout.SpoolPrefix(p))
		if err != nil {
			return nil, nil, err
		}
		m, err := partition.Read(ctx, bucket, p)
		if err == nil {
			err = partition.Later(&m)
		}
		if err != nil {
			return nil, nil, err
		}
		read = append(read, manifest.Manifest{Partition: p, Generation: m.Generation, Consumed: m.Consumed, Closed: m.Closed})
		books, err := partition.OpenBooks(ctx, bucket, m.Books)
		if err != nil {
			return nil, nil, err
		}
		for standing, err := range books.Standings(ctx) {
			if err != nil {
				return nil, nil, err
			}
			for _, o := range []*book.Outcome{standing.Page, standing.Final} {
				if o != nil && wanted(o.Identity()) {
					known.add(o)
				}
			}
		}
		for _, object := range spooled {
			_, batch, err := layout.ParseSpoolKey(object.Key)
			if err != nil || m.HasConsumed(batch) || m.IsClosed(batch) {
				continue
			}
			ledger, err := spool.ReadLedger(ctx, bucket, object.Key)
			if errors.Is(err, spool.ErrDamaged) { // pack puts it into quarantine
				continue
			}
			if err != nil {
				return nil, nil, err
			}
			for i := range ledger.Outcomes {
				if o := &ledger.Outcomes[i]; wanted(o.Identity()) {
					known.add(o)
				}
			}
		}
	}
	return known, read, nil
}

// outdates reports whether the outcome o makes older captures of its URL worthless, so that they are
// not imported. It does if the request stored the page or found it unchanged, or if the server gave
// another answer, such as 404. It does not if there was no answer, or only 429 or 5xx.
func outdates(o *book.Outcome) bool {
	return o.State == book.Stored || o.State == book.Unchanged || o.Status != 0 && o.Status != http.StatusTooManyRequests && o.Status/100 != 5
}
