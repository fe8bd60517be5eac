package sweep

import (
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/layout"
)

// clearFeedback deletes vital signs that nobody looks at any more. Keys sort by
// time, so it lists little more than those.
func (f *Function) clearFeedback(ctx context.Context) error {
	first := layout.FeedbackDay(f.Now().Add(-f.Limits.Feedback))
	var keys []string
	for object, err := range f.Bucket.List(ctx, layout.Feedback, "") {
		if err != nil {
			return fmt.Errorf("cannot list %s: %w", layout.Feedback, err)
		}
		if object.Key >= first {
			break
		}
		if !layout.IsForeign(object.Key) {
			keys = append(keys, object.Key)
		}
	}
	return collect.Delete(ctx, f.Bucket, f.Now, keys)
}
