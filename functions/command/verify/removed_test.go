package verify_test

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// The seed of a collection that is removed has been discovered all the same.
func TestRemovedCollection(t *testing.T) {
	w := verifytest.New(t)
	w.Index(w.Learn(verifytest.Batch(1), []string{verifytest.Site}))
	if _, err := collection.Remove(t.Context(), w.Bucket, w.Settings.Collections[0].Name); err != nil {
		t.Fatal(err)
	}
	verifier := verify.Verifier{Bucket: w.Bucket, Now: functionstest.NewClock().Now()}
	report, err := verifier.Run(t.Context())
	if err != nil || !report.Sound() || report.Waiting.Find != 0 || report.Stored != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}
