package system

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// manifestAge is the maximum age of the manifests that Progress uses during a crawl.
const manifestAge = time.Second

const (
	silentAfter = 2   // minimum number of failures in a row for which a host is listed in Progress.Silent
	silentRead  = 100 // maximum number of failing hosts that are read from the frontier of each crawl partition
)

// Progress holds the figures of a running crawl: numbers of URLs, of objects that are stored, and
// of steps of work that are left.
type Progress struct {
	Stored, Waiting, Leased, Failed, Skipped int64
	Parked                                   int64 // number of parked URLs: their collections have reached their limits
	Again                                    int64 // number of waiting URLs that were stored, skipped or failed before
	// Missed means that a collection may lack pages, because they were requested for other
	// collections. When no URL waits any more, a sweep finds these pages and adds them.
	Missed bool
	// Arrived is the number of pages that were received for batches which are still being fetched.
	// Stored does not count them yet. It is 0 if the functions run in processes of their own.
	Arrived                        int64
	Turn                           Turn   // host for which the crawl waits; only while it is not Crawled
	Unpacked                       int    // number of batches that wait to be packed
	Packages, Unindexed, Documents int    // numbers of packages, of packages not yet indexed, and of documents
	Searchable                     int    // number of documents that searches can find
	Apart                          int    // number of storage partitions whose small packages can be indexed together
	Gone                           int    // number of gone pages that searches may still find: their documents are not marked as dead yet
	Dead                           int    // number of messages that were given up
	Paused                         string // reason of the pause; "": the crawl is not paused
	// hosts whose last requests got no answer, or status 429 or 503, at least silentAfter times in a
	// row; the list may be incomplete
	Silent  []string
	Failing []string // result of System.Failing; only Wait sets it
}

// Crawled reports whether no URL is left to request.
func (p Progress) Crawled() bool { return p.Leased == 0 && p.Waiting == 0 && !p.Missed }

// Done reports whether the crawl is complete: no URL is left to request (see Crawled), every stored page is
// searchable and no gone page is (see Settled), and small packages are indexed together (see Apart).
func (p Progress) Done() bool { return p.Crawled() && p.Settled() && p.Apart == 0 }

// Settled reports whether all stored pages are packed and indexed, and the documents of all
// gone pages are marked as dead.
func (p Progress) Settled() bool { return p.Unpacked == 0 && p.Unindexed == 0 && p.Gone == 0 }

// Text returns the state of the crawl in a few words, such as "41 pages fetched, 30 searchable, 12
// waiting, next request to example.org in 1 s". The parameter now is the present time.
func (p Progress) Text(now time.Time) string {
	fetched, s := p.Stored+p.Arrived, "s"
	if fetched == 1 {
		s = ""
	}
	text := fmt.Sprintf("%d page%s fetched, %d searchable", fetched, s, p.Searchable)
	if p.Crawled() {
		return text + ", the others are being indexed"
	}
	text += fmt.Sprintf(", %d waiting", p.Waiting+max(0, p.Leased-p.Arrived))
	if p.Again > 0 {
		text += fmt.Sprintf(" (%d again)", p.Again)
	}
	switch n := len(p.Silent); {
	case n == 1:
		text += ", " + p.Silent[0] + " does not answer"
	case n > 1:
		text += fmt.Sprintf(", %s and %d more do not answer", p.Silent[0], n-1)
	}
	if p.Paused != "" {
		return text + ", paused: " + p.Paused
	}
	if turn := p.Turn.Text(now); turn != "" {
		text += ", " + turn
	}
	return text
}

// Progress reads the progress of the crawl. It fails with frontier.ErrNotBuilt until the
// frontier is rebuilt, and with a partition.Fault while generations are lost or damaged.
func (s *System) Progress(ctx context.Context) (Progress, error) {
	var p Progress
	inForce, err := s.Settings.Get(ctx)
	if err != nil {
		return p, err
	}
	if pause := inForce.Control.Paused(time.Now()); pause != nil {
		p.Paused = pause.Reason
	}
	// Checked before and after everything else: a frontier that is not built, or is
	// lost meanwhile, looks as if no URL were left.
	if err := s.built(ctx, inForce); err != nil {
		return p, err
	}
	fronts := frontiersOf(s.Redis, inForce)
	if err := s.addBatches(ctx, fronts, &p); err != nil {
		return p, err
	}
	for _, front := range fronts {
		if err := addFrontier(ctx, front, &p); err != nil {
			return p, err
		}
	}
	if p.Turn.Host == "" && p.Leased == 0 && p.Waiting > 0 && p.Paused == "" {
		if p.Turn.Next, err = soonest(ctx, fronts); err != nil {
			return p, err
		}
	}
	// Leased batches are read before unpacked ones, and these before unindexed
	// packages, so that no work is missed in between.
	for _, storage := range inForce.Partitions() {
		waiting, err := frontier.NewInbox(s.Redis, storage).Len(ctx)
		if err != nil {
			return p, err
		}
		p.Unpacked += waiting
	}
	if err := s.addManifests(ctx, inForce, &p); err != nil {
		return p, err
	}
	if err := s.built(ctx, inForce); err != nil {
		return p, err
	}
	for _, q := range s.queues {
		p.Dead += q.Counts().Dead
	}
	return p, nil
}

// built returns nil if the frontier of every crawl partition is complete, and was built for the
// settings in force. Otherwise it returns an error.
func (s *System) built(ctx context.Context, inForce *settings.Settings) error {
	for _, front := range frontiersOf(s.Redis, inForce) {
		if err := front.Built(ctx, inForce.Fingerprint()); err != nil {
			return err
		}
	}
	return nil
}

// addBatches sets the fields Arrived and Turn of p from the batches that are being fetched. It must be
// called before the counts of the frontiers are read. Then a batch that is settled (entered in the
// frontier) in between is counted twice for a moment, instead of not at all, so that the number of pages
// does not go down.
func (s *System) addBatches(ctx context.Context, fronts []*frontier.Frontier, p *Progress) error {
	var leased []layout.Version
	for _, front := range fronts {
		versions, err := front.Leases(ctx)
		if err != nil {
			return err
		}
		leased = append(leased, versions...)
	}
	batches := s.fetches.of(leased)
	for _, b := range batches {
		p.Arrived += int64(b.Pages)
	}
	p.Turn = turnOf(batches)
	return nil
}

// addFrontier adds the counts of a crawl partition's frontier to p.
func addFrontier(ctx context.Context, front *frontier.Frontier, p *Progress) error {
	counts, err := front.Counts(ctx)
	if err != nil {
		return err
	}
	p.Stored += counts.Stored
	p.Waiting += counts.Waiting
	p.Leased += counts.Leased
	p.Failed += counts.Failed
	p.Skipped += counts.Skipped
	p.Parked += counts.Parked
	p.Again += counts.Again
	p.Missed = p.Missed || counts.Missed
	failing, err := front.Failing(ctx, silentRead)
	for host, times := range failing {
		if times >= silentAfter {
			p.Silent = append(p.Silent, host)
		}
	}
	slices.Sort(p.Silent)
	return err
}

// addManifests adds the figures of the manifests, such as the numbers of packages and documents, to
// p. While the crawl goes on or batches wait to be packed, it reads the manifests at most once in
// the time manifestAge, to save requests. After that it reads them at each call.
func (s *System) addManifests(ctx context.Context, inForce *settings.Settings, p *Progress) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Crawled() && p.Unpacked == 0 || time.Since(s.manifestsRead) > manifestAge {
		s.manifests, s.fault = nil, nil
		for _, storage := range inForce.Partitions() {
			m, err := partition.Read(ctx, s.Bucket, storage)
			if err == nil {
				err = partition.Later(&m)
			}
			if partition.IsFault(err) && s.fault == nil {
				s.fault, err = err, nil
			}
			if err != nil {
				return err
			}
			s.manifests = append(s.manifests, m)
		}
		s.manifestsRead = time.Now()
	}
	if s.fault != nil {
		return s.fault
	}
	for _, m := range s.manifests {
		p.Packages += len(m.Packages)
		for _, gone := range m.Gone {
			if !gone.Masked {
				p.Gone++
			}
		}
		if segments.Together(&m, true) != nil {
			p.Apart++
		}
		for _, listed := range m.Packages {
			if !listed.Indexed {
				p.Unindexed++
			}
		}
		for _, listed := range m.Segments {
			p.Documents += listed.Documents
			p.Searchable += listed.Live()
		}
	}
	return nil
}
