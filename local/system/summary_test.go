package system

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// TestSummaryOfFewSites has the pages of a large site, and two seeds on small sites. One seed was just stored, the
// other redirects to a page of the large site. With a census from before, the summary must be the same as without,
// and must read much less.
func TestSummaryOfFewSites(t *testing.T) {
	const large = "http://large.example/"
	small := below(t, large)
	seeds := []string{small[0], small[1]}
	bucket := memblob.New()
	published := functionstest.Publish(t, bucket, 1, func(c *collection.Collection) { c.Seeds[0].Scope = collection.Any }, seeds...)
	functionstest.Begin(t, bucket, 0)
	var old book.Book
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		url := fmt.Sprintf("%s%x", large, random.Uint64())
		old.Outcomes = append(old.Outcomes, functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 1}, url, book.Stored))
		old.Links = append(old.Links, functionstest.Link(t, seeds[0], url, 1))
	}
	moved := functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 1}, seeds[1], book.Skipped)
	moved.Reason, moved.Detail = membership.Redirect, "to "+old.Outcomes[7].URL
	old.Outcomes = append(old.Outcomes, moved)
	slices.SortFunc(old.Outcomes, book.Outcome.Compare)
	functionstest.Learn(t, bucket, 0, old)
	summarize := func(s *System) (Summary, int64) {
		t.Helper()
		before := s.Requests().Read
		got, err := s.Summarize(t.Context(), Plan{Collections: published.Collections}, functionstest.Start.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		read := s.Requests().Read - before
		got.Requests, got.Bytes = Requests{}, Bytes{}
		return got, read
	}
	s := systemOf(bucket)
	_, whole := summarize(s) // saves the census
	stored := functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 2}, seeds[0], book.Stored)
	stored.Time = functionstest.Start.Add(2 * time.Hour)
	functionstest.Learn(t, bucket, 0, book.Book{Outcomes: []book.Outcome{stored}})
	got, read := summarize(s)
	if got.New != 1 || got.Stored != 20_001 || len(got.Seeds) != 2 || !got.Seeds[0].Stored() || !got.Seeds[1].Stored() || !got.Seeds[1].Redirected() {
		t.Errorf("new %d, stored %d, seeds %+v", got.New, got.Stored, got.Seeds)
	}
	if read > whole/2 {
		t.Errorf("%d bytes were read, and %d when all URLs were counted", read, whole)
	}
	if err := bucket.Delete(t.Context(), layout.Census); err != nil {
		t.Fatal(err)
	}
	want, _ := summarize(s)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("without and with a census (-want +got):\n%s", diff)
	}
}

// below returns two URLs on sites whose places are below those of the URL's site.
func below(t *testing.T, url string) (small []string) {
	t.Helper()
	limit, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; len(small) < 2; n++ {
		at, err := address.Parse(fmt.Sprintf("http://small%d.example/", n))
		if err != nil {
			t.Fatal(err)
		}
		if at.Place.Site() < limit.Place.Site() {
			small = append(small, at.URL)
		}
	}
	return small
}

// systemOf returns a system of which only the bucket is used.
func systemOf(bucket *memblob.Bucket) *System {
	counting := countblob.New(bucket)
	return &System{Bucket: counting, store: &store{counting: counting}}
}
