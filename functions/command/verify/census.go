package verify

import (
	"context"

	"github.com/bucketsearch/bucketsearch/functions/shared/census"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/account"
)

// checkCensus counts the URLs of those parts of the last census that still hold, and reports the census if its
// numbers are others. If manifests or books are lost or damaged, no part holds.
func (v *run) checkCensus(ctx context.Context) error {
	last, err := census.Read(ctx, v.Bucket)
	if err != nil || len(last.Parts) == 0 {
		return err
	}
	books, err := account.Survey(ctx, v.Bucket, v.settings)
	if err != nil {
		return err
	}
	wrong, err := last.Wrong(ctx, v.Bucket, books, v.settings, v.Now)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		v.problem(Damaged, 0, layout.Census, "has wrong numbers of URLs: in %d of %d parts of the hash space, such as from place %016x on",
			len(wrong), len(last.Parts), uint64(wrong[0].From))
	}
	return nil
}
