package vitals

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// parallelReads is how many feedback objects are read at once.
const parallelReads = 16

// Read returns all feedback of the time after since, in its order. An object
// that cannot be read as feedback says nothing and is passed over.
func Read(ctx context.Context, bucket blob.Reader, since time.Time) ([]Feedback, error) {
	keys, err := list(ctx, bucket, layout.Feedback, instant(since))
	if err != nil {
		return nil, err
	}
	return get(ctx, bucket, keys)
}

// list returns the keys of feedback below the prefix and behind startAfter.
func list(ctx context.Context, bucket blob.Reader, prefix, startAfter string) ([]string, error) {
	var keys []string
	for object, err := range bucket.List(ctx, prefix, startAfter) {
		if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", prefix, err)
		}
		if _, err := layout.ParseFeedbackKey(object.Key); err == nil && object.Size <= maxFeedback {
			keys = append(keys, object.Key)
		}
	}
	return keys, nil
}

func get(ctx context.Context, bucket blob.Reader, keys []string) ([]Feedback, error) {
	found := make([]*Feedback, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for i, key := range keys {
		group.Go(func() error {
			content, err := bucket.Get(ctx, key, blob.Range{})
			if errors.Is(err, blob.ErrAbsent) { // deleted meanwhile: it was old
				return nil
			}
			if err != nil {
				return fmt.Errorf("cannot read feedback %s: %w", key, err)
			}
			if f, err := decode(content); err == nil {
				found[i] = &f
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var all []Feedback
	for _, f := range found {
		if f != nil {
			all = append(all, *f)
		}
	}
	return all, nil
}

// instant returns what the keys of all feedback of a millisecond begin with.
func instant(at time.Time) string {
	return strings.TrimSuffix(layout.FeedbackKey(at, ""), "_.json")
}
