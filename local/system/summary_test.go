package system

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/census"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// large is the URL of the large site in the bucket of largeSite.
const large = "http://large.example/"

// largeSite returns a bucket with 20,000 pages of a large site, and two seeds on small sites. The second seed redirects
// to a page of the large site.
func largeSite(t *testing.T) (bucket *memblob.Bucket, small []string, c []collection.Collection) {
	t.Helper()
	small, bucket = sitesBelow(t, large), memblob.New()
	c = functionstest.Publish(t, bucket, 1, func(c *collection.Collection) { c.Seeds[0].Scope = collection.Any }, small...).Collections
	functionstest.Begin(t, bucket, 0)
	var b book.Book
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		url := fmt.Sprintf("%s%x", large, random.Uint64())
		b.Outcomes = append(b.Outcomes, functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 1}, url, book.Stored))
		b.Links = append(b.Links, functionstest.Link(t, small[0], url, 1))
	}
	moved := functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 1}, small[1], book.Skipped)
	moved.Reason, moved.Detail = membership.Redirect, "to "+b.Outcomes[7].URL
	b.Outcomes = append(b.Outcomes, moved)
	slices.SortFunc(b.Outcomes, book.Outcome.Compare)
	functionstest.Learn(t, bucket, 0, b)
	return bucket, small, c
}

// TestUncounted reads the status of a bucket with more URLs than are counted at once. The status must say which share is
// missing, until the sweep has counted all.
func TestUncounted(t *testing.T) {
	bucket, _, _ := largeSite(t)
	defer func(before int64) { countAtOnce = before }(countAtOnce)
	countAtOnce = 1
	read := func() Status {
		t.Helper()
		status, err := ReadStatus(t.Context(), bucket, countblob.Counts{}, "")
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	if s := read(); s.Uncounted <= 0 || s.Uncounted >= 1 || s.Stored > 0 || s.Discovered != 2 {
		t.Errorf("%v is uncounted, %d stored, %d discovered; want the two seeds", s.Uncounted, s.Stored, s.Discovered)
	}
	inForce, err := settings.Read(t.Context(), bucket, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if more, err := census.Refresh(t.Context(), bucket, inForce, time.Now(), true); err != nil || more {
		t.Fatal(more, err)
	}
	if s := read(); s.Uncounted != 0 || s.Stored != 20_000 {
		t.Errorf("%v is uncounted, and %d stored, after the sweep has counted", s.Uncounted, s.Stored)
	}
}

// TestPagesOfUncounted adds --pages to the stored pages of a bucket with more URLs than are counted at once. The limit
// must be above all stored pages, not only the counted ones.
func TestPagesOfUncounted(t *testing.T) {
	defer func(before int64) { countAtOnce = before }(countAtOnce)
	countAtOnce = 1
	bucket, small, _ := largeSite(t)
	published := functionstest.Republish(t, bucket, collection.Collection{
		Name: DefaultCollection, HostConnections: 1, Agent: "testbot/1.0", Seeds: seeds(small[0]),
	}, nil).Collections
	var b book.Book
	for n := range 5 {
		o := functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 2}, fmt.Sprintf("%sdefault/%d", large, n), book.Stored)
		o.Collections = []string{DefaultCollection}
		b.Outcomes = append(b.Outcomes, o)
	}
	slices.SortFunc(b.Outcomes, book.Outcome.Compare)
	functionstest.Learn(t, bucket, 0, b)
	s := systemOf(bucket)
	s.options.Agent = "testbot/1.0"
	plan := Plan{Seeds: seeds(small[0]), MaxPages: 3, HostConnections: 1}
	if err := s.planSeeds(t.Context(), plan, published, functionstest.Start); err != nil {
		t.Fatal(err)
	}
	inForce, err := settings.Read(t.Context(), bucket, functionstest.Start)
	if err != nil {
		t.Fatal(err)
	}
	if got := inForce.Collection(DefaultCollection).Pages; got != 5+3 {
		t.Errorf("the limit is %d pages, want 8", got)
	}
}

// TestSummaryOfFewSites stores one seed of largeSite. With a census from before, the summary must be the same as
// without, and must read much less.
func TestSummaryOfFewSites(t *testing.T) {
	bucket, small, collections := largeSite(t)
	summarize := func(s *System) (Summary, int64) {
		t.Helper()
		before := s.Requests().Read
		got, err := s.Summarize(t.Context(), Plan{Collections: collections}, functionstest.Start.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		read := s.Requests().Read - before
		got.Requests, got.Bytes = Requests{}, Bytes{}
		return got, read
	}
	s := systemOf(bucket)
	_, whole := summarize(s) // saves the census
	stored := functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 2}, small[0], book.Stored)
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

// sitesBelow returns two URLs on sites whose places are below those of the URL's site.
func sitesBelow(t *testing.T, url string) (small []string) {
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
