package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// lonely is told of every URL with an outcome to which no seed or link leads.
func (v *run) lonely(url string, p layout.Partition) {
	v.count(func(r *Report) {
		if r.Waiting.Find++; r.Waiting.Find <= MaxProblems {
			v.undiscovered = append(v.undiscovered, Problem{Kind: Unaccounted, Partition: p, URL: url,
				Detail: "has an outcome, yet no seed or link leads to it"})
		}
	})
}

// judgeLonely checks that every URL with an outcome was discovered. A link can
// be gone for two reasons: the page on which it stood is forgotten, or the book
// or spool object that told of it was lost. That takes the outcome of the page
// along, so the page waits to be fetched, and the link to be found again.
func (v *run) judgeLonely(ctx context.Context) error {
	waiting := &v.report.Waiting
	if waiting.Find == 0 || waiting.Fetch > 0 || !v.settings.Takedowns.Empty() || v.incomplete() {
		return nil
	}
	if v.report.Pending > 0 {
		lost, err := v.spoolLost(ctx)
		if err != nil || lost {
			return err
		}
	}
	if len(v.undiscovered) > 0 { // a collection may have had another seed, or be removed
		seeds, err := collection.EverySeed(ctx, v.Bucket)
		if err != nil {
			return err
		}
		before := len(v.undiscovered)
		v.undiscovered = slices.DeleteFunc(v.undiscovered, func(p Problem) bool { return seeds[p.URL] })
		waiting.Find -= before - len(v.undiscovered)
	}
	for _, p := range v.undiscovered {
		v.problems.add(p)
	}
	v.problems.more += waiting.Find - len(v.undiscovered)
	waiting.Find = 0
	return nil
}

// judgeStrategies tells of pages that are wanted and lie where no rule of a
// strategy matches, so that nobody asks for them.
func (v *run) judgeStrategies() {
	n := v.unplaced.Load()
	if n == 0 {
		return
	}
	for _, d := range []*rules.Document{&v.settings.Crawl, &v.settings.Storage} {
		for _, fault := range d.Faults() {
			v.problems.add(Problem{Kind: Missing, Key: layout.StrategyKey(string(d.Kind), d.Version),
				Detail: fmt.Sprintf("%s; %d URLs have no partition and are not asked for until the next version has one for them", fault, n)})
		}
	}
}

// spoolLost reports whether any spool object was damaged, and put into
// quarantine before it was packed.
func (v *run) spoolLost(ctx context.Context) (bool, error) {
	for _, err := range v.Bucket.List(ctx, layout.QuarantinePrefix(layout.Spool), "") {
		if err != nil {
			return false, fmt.Errorf("cannot list the quarantine: %w", err)
		}
		return true, nil
	}
	return false, nil
}
