package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Suggest returns suggestions for a text that somebody is typing, the best first: titles, headings, texts of
// links, and completed words (see search.Index.Suggest). As in Search, a segment that cannot be used is left out.
// Titles and headings of banned pages are left out, too.
func (e *Engine) Suggest(ctx context.Context, q search.Suggesting) ([]search.Suggestion, error) {
	current, err := e.snapshots.get(ctx, e)
	if err == nil {
		err = current.allLost()
	}
	var tried retries
	for err == nil {
		var found []search.Suggestion
		var index *search.Index
		if index, err = current.searched(q.Text, e); err != nil {
			break
		}
		if found, err = index.Suggest(ctx, q); err == nil {
			return found, nil
		}
		current, err = e.afterFault(ctx, current, err, &tried)
	}
	return nil, fmt.Errorf("cannot suggest: %w", err)
}

// ranks returns a function that reads the ranks of a segment's documents (numbers by which suggestions are
// ordered); nil if the segment has none. If the ranks are damaged or missing, the function logs this and
// returns nil, so all documents count as equal. It fails with other errors, such as those of the object
// store.
func (e *Engine) ranks(listed manifest.Segment) func(context.Context) ([]segment.Rank, error) {
	if listed.Ranks == nil {
		return nil
	}
	key := listed.Ranks.Key
	return func(ctx context.Context) ([]segment.Rank, error) {
		content, err := e.ranges.Read(ctx, key, []blob.Range{{Length: listed.Ranks.Bytes}})
		var ranks []segment.Rank
		if err == nil {
			ranks, err = segment.DecodeRanks(content[0])
		}
		if unusable(err) || errors.Is(err, blob.ErrRange) {
			e.ranges.Forget(key)
			e.Log.WarnContext(ctx, "suggestions are made without ranks", "key", key, "error", err)
			return nil, nil
		}
		return ranks, err
	}
}
