package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/strategy/curation"
)

// Answer answers one step of a query for a root, another engine that has this one among its leaves
// (Options.Leaves). It searches in the segments that the root names. The curation in force applies, except that no
// page is pinned: a root answers a query with pinned pages alone.
//
// If the present snapshot lacks one of the segments, Answer reads the manifests again. If that does not help, the error
// is a *search.Unreadable that wraps blob.ErrAbsent.
func (e *Engine) Answer(ctx context.Context, a *search.Asked) (*search.Answer, error) {
	began, costs := e.Now(), new(meter.Meter)
	ctx = meter.With(ctx, costs)
	current, err := e.snapshotOf(ctx, time.Time{})
	var tried retries
	for err == nil {
		current.curated.apply(&a.Query)
		a.Query.Pinned = nil
		parts, lacking := current.chosen(a, e)
		if lacking != "" && tried.reread {
			return nil, &search.Unreadable{Segment: lacking, Err: blob.ErrAbsent}
		}
		if lacking != "" {
			tried.reread = true
			current, err = e.reread(ctx, current)
			continue
		}
		var index *search.Index
		if index, err = search.New(parts, e.documents); err != nil {
			break
		}
		var answer *search.Answer
		if answer, err = index.Answer(ctx, a); err == nil {
			answer.Spent = costs.Spent(e.Now().Sub(began).Seconds() * e.Paid)
			return answer, nil
		}
		current, err = e.afterFault(ctx, current, err, &tried)
	}
	return nil, fmt.Errorf("cannot answer a root: %w", err)
}

// logged is a leaf whose failures are logged: the answer to the person who searches tells only their number.
type logged struct {
	search.Leaf
	engine *Engine
}

// Ask implements search.Leaf.
func (l logged) Ask(ctx context.Context, a *search.Asked) (*search.Answer, error) {
	answer, err := l.Leaf.Ask(ctx, a)
	if err != nil {
		l.engine.Log.WarnContext(ctx, "a leaf is left out of an answer", "leaf", l.Name(), "error", err)
	}
	return answer, err
}

// leaves returns the engine's leaves, for an index.
func (e *Engine) leaves() (all []search.Leaf) {
	for _, leaf := range e.Leaves {
		all = append(all, logged{leaf, e})
	}
	return all
}

// chosen returns the parts of the index that a root asks for, in its order. If the snapshot lacks one of them, chosen
// returns the key of its segment.
func (s *snapshot) chosen(a *search.Asked, e *Engine) (parts []search.Part, lacking string) {
	all := s.parts(append(s.curated.hiddenFor(curation.Fold(a.Query.Text)), s.curated.always()...), e)
	for _, key := range a.Segments {
		i := slices.IndexFunc(all, func(p search.Part) bool { return p.Segment.Ref().Key == key })
		if i < 0 {
			return nil, key
		}
		parts = append(parts, all[i])
	}
	return parts, ""
}
