// Package verify proves from the bucket that nothing is lost and nothing is
// twice: every URL in exactly one state, every stored page readable and whole,
// every package indexed exactly once.
package verify

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Report is what was proved and what was found wrong.
type Report struct {
	URLs     int      `json:"urls"`
	Pages    int      `json:"pages"`
	Packages int      `json:"packages"`
	Segments int      `json:"segments"`
	Problems []string `json:"problems"`
}

// Verifier checks one bucket.
type Verifier struct {
	Bucket blob.Reader
	// Frontiers, when Redis is up, hold exactly the pending URLs.
	Frontiers []*frontier.Frontier

	mu     sync.Mutex // protects report
	report Report
}

// Run checks everything. Problems are in the report; an error means that the
// proof could not be finished.
func (v *Verifier) Run(ctx context.Context) (Report, error) {
	v.report = Report{}
	s, err := settings.Read(ctx, v.Bucket)
	if err != nil {
		return Report{}, err
	}
	books, err := account.Survey(ctx, v.Bucket, s)
	if err != nil {
		return Report{}, err
	}
	for _, reason := range slices.Concat(books.Lost, books.Damaged) {
		v.problem("%v", reason)
	}
	if err := v.states(ctx, books); err != nil {
		return Report{}, err
	}
	for i := range books.Manifests {
		if err := v.partition(ctx, &books.Manifests[i]); err != nil {
			return Report{}, err
		}
	}
	slices.Sort(v.report.Problems)
	return v.report, nil
}

// states checks that every URL that was asked for was discovered, and that the
// frontiers hold what is pending and nothing else.
func (v *Verifier) states(ctx context.Context, books *account.Bucket) error {
	pending := make(map[layout.Identity]string)
	for u, err := range books.All() {
		if err != nil {
			return err
		}
		v.report.URLs++
		if !u.Discovered {
			v.problem("%s has an outcome, yet no seed or link leads to it", u.Address.URL)
		}
		if u.State == account.Pending {
			pending[u.Address.ID] = u.Address.URL
		}
	}
	if v.Frontiers == nil {
		return nil
	}
	waiting := make(map[layout.Identity]*frontier.Frontier)
	for _, front := range v.Frontiers {
		for id, err := range front.Pending(ctx) {
			if err != nil {
				return err
			}
			other, found := waiting[id]
			switch {
			case !found:
				waiting[id] = front
			case other != front:
				v.problem("%s waits in two frontiers", id)
			}
		}
	}
	for id := range waiting {
		if _, found := pending[id]; !found {
			v.problem("%s waits in the frontier, and is not pending in the books", id)
		}
	}
	for id, url := range pending {
		if waiting[id] == nil {
			v.problem("%s is pending in the books, and not in the frontier", url)
		}
	}
	return nil
}

// partition checks what one manifest lists.
func (v *Verifier) partition(ctx context.Context, m *manifest.Manifest) error {
	if err := v.chain(ctx, m); err != nil {
		return err
	}
	pages, err := v.packages(ctx, m)
	if err != nil {
		return err
	}
	if err := v.books(ctx, m, pages); err != nil {
		return err
	}
	return v.segments(ctx, m, pages)
}

// chain checks that the generation in force is the one that is stored, of
// which the hint may be another copy, and that every one follows from the one
// before.
func (v *Verifier) chain(ctx context.Context, m *manifest.Manifest) error {
	newer := *m
	for generation := m.Generation; generation > 0; generation-- {
		stored, err := manifest.At(ctx, v.Bucket, m.Partition, generation)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			v.problem("partition %s: generation %d cannot be read: %v", m.Partition, generation, err)
			return nil
		}
		if generation == m.Generation && stored.Hash() != m.Hash() {
			v.problem("partition %s: the hint is no copy of generation %d", m.Partition, generation)
		}
		if generation < m.Generation && stored.Hash() != newer.Parent {
			v.problem("partition %s: generation %d does not follow from generation %d", m.Partition, newer.Generation, generation)
		}
		newer = stored
	}
	return nil
}

func (v *Verifier) problem(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report.Problems = append(v.report.Problems, fmt.Sprintf(format, args...))
}
