package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
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
		if index, err = e.indexOf(parts); err != nil {
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

// ownLeaf is one of the engine's leaves. The engine's breakers decide whether it is asked.
type ownLeaf struct {
	search.Leaf
	engine *Engine
	reread bool // whether the engine has read the manifests again for this query
}

// Ask implements search.Leaf. A leaf that does not know a segment although root and leaf have read the manifests again
// is left out like one that fails: it may be on another bucket, or short of memory.
func (l ownLeaf) Ask(ctx context.Context, a *search.Asked) (*search.Answer, error) {
	most, asks := l.engine.breakers.begin(l.Name(), a, l.engine.Now())
	if !asks {
		return nil, errRests
	}
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	to := *a
	to.Patience = most
	answer, err := l.Leaf.Ask(within, &to)
	if of, is := errors.AsType[*search.Unreadable](err); is {
		if !l.reread {
			l.engine.breakers.beginsAgain(l.Name())
			return nil, err
		}
		err = fmt.Errorf("it does not know the segment %s: give it the same bucket and enough memory", of.Segment)
	}
	switch {
	case err == nil && a.IsLast(answer):
		if l.engine.breakers.answered(l.Name()) {
			l.engine.Log.InfoContext(ctx, "a leaf is asked by all queries again", "leaf", l.Name())
		}
	case err != nil && a.Patience >= leastPatience && !errors.Is(ctx.Err(), context.Canceled):
		if rest := l.engine.breakers.failed(l.Name(), l.engine.Now()); rest > 0 {
			l.engine.Log.WarnContext(ctx, "a leaf is not asked for a while, as it did not answer", "leaf", l.Name(), "rest", rest.String(), "error", err)
		}
	}
	return answer, err
}

// leaves returns the engine's leaves, for an index. The parameter reread says whether the index is of manifests that
// were read again for one query.
func (e *Engine) leaves(reread bool) (all []search.Leaf) {
	for _, leaf := range e.Leaves {
		all = append(all, ownLeaf{leaf, e, reread})
	}
	return all
}

// tellLeftOut records that an answer lacks the pages of some leaves: the person who searches is told only how many
// leaves these are.
func (e *Engine) tellLeftOut(ctx context.Context, leaves []search.LeftOut) {
	if len(leaves) > 0 {
		message.Note(ctx, vitals.LeafLeftOut)
	}
	for _, l := range leaves {
		if !errors.Is(l.Err, errRests) { // that it rests is logged once
			e.Log.WarnContext(ctx, "a leaf is left out of an answer", "leaf", l.Leaf, "error", l.Err)
		}
	}
}

// Resting returns the names of the engine's leaves that are not asked at present, as they did not answer (see breakers).
func (e *Engine) Resting() (names []string) {
	for _, leaf := range e.Leaves {
		if name := leaf.Name(); e.breakers.rests(name) {
			names = append(names, name)
		}
	}
	return names
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
