package sweep

import (
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// forgetJudgments erases the judgments of URLs that takedowns forget, and the clicks on them. It
// does so once for every version of the takedowns, and again after each grace period (a day).
// Judgments and clicks in quarantine cannot be searched, so it deletes all of these.
func (f *Function) forgetJudgments(ctx context.Context, s *settings.Settings) error {
	if s.Takedowns.Version == 0 {
		return nil
	}
	return f.once(ctx, fmt.Sprintf("forget judgments %d", s.Takedowns.Version), func() error {
		var keys []string
		for _, prefix := range []string{layout.Judgments, layout.Clicks} {
			kept, err := blob.List(ctx, f.Bucket, layout.QuarantinePrefix(prefix))
			if err != nil {
				return err
			}
			for _, object := range kept {
				f.Log.WarnContext(ctx, "deleted from quarantine, for it may hold what is forgotten", "key", object.Key)
				keys = append(keys, object.Key)
			}
		}
		if err := collect.Delete(ctx, f.Bucket, f.Now, keys); err != nil {
			return err
		}
		erased, err := judgment.Erase(ctx, f.Bucket, &s.Takedowns)
		if erased > 0 {
			f.Log.InfoContext(ctx, "erased judgments of what is forgotten, or clicks on it", "objects", erased, "takedowns", s.Takedowns.Version)
		}
		return err
	})
}
