package verifytest

import (
	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/sweep"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Lose commits, as pack does, that pages are gone.
func (w *World) Lose(v layout.Version, urls ...string) {
	w.T.Helper()
	outcomes := functionstest.Outcomes(w.T, v, book.Failed, urls...)
	content, err := book.Encode(book.Book{Outcomes: outcomes})
	if err != nil {
		w.T.Fatal(err)
	}
	listed := manifest.Book{Key: layout.BookKey(0, layout.ContentHash(content)), Bytes: int64(len(content)), Outcomes: len(outcomes)}
	if err := blob.CreateOnce(w.T.Context(), w.Bucket, listed.Key, content); err != nil {
		w.T.Fatal(err)
	}
	w.Commit(func(m *manifest.Manifest) {
		m.Books = append(m.Books, listed)
		for _, url := range urls {
			m.AddGone(manifest.Gone{ID: layout.IdentityOf(url), Version: v})
		}
		consume(m, outcomes)
	})
}

// Mask has the sweep mask what is gone.
func (w *World) Mask() {
	w.T.Helper()
	f := &sweep.Function{Bucket: w.Bucket, Now: functionstest.NewClock().Now, Log: functionstest.Log()}
	response, err := f.Handle(w.T.Context(), events.SQSEvent{Records: []events.SQSMessage{{Body: `{"gone":0}`}}})
	if err != nil || len(response.BatchItemFailures) > 0 {
		w.T.Fatal(response, err)
	}
}
