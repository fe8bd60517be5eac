package why_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/command/why"
	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

const home = "http://one.example/"

func version(token uint64) layout.Version { return layout.Version{Epoch: 1, Token: token} }

// filled returns a bucket with a stored seed, the URLs to which it links, and one more page in the
// spool.
func filled(t *testing.T) *memblob.Bucket {
	t.Helper()
	bucket := memblob.New()
	functionstest.Publish(t, bucket, 1, nil, home)
	pkg, outcomes := functionstest.Package(t, bucket, 0, functionstest.Page(version(2), home))
	retried := functionstest.Outcome(t, version(1), home, book.Retry)
	functionstest.Learn(t, bucket, 0, book.Book{
		Outcomes: append(outcomes, retried, functionstest.Outcome(t, version(3), home+"failed", book.Failed)),
		Links: []book.Link{
			functionstest.Link(t, home, home+"failed", 1), functionstest.Link(t, home, home+"new", 1),
			functionstest.Link(t, home, home+"spooled", 1), functionstest.Link(t, home, "http://two.example/", 1),
			functionstest.Link(t, home, home+"forgotten", 1),
		},
	}, pkg)
	f := &index.Function{
		Bucket: bucket, Settings: new(functionstest.Fixed), Redis: redistest.Server(t), Sender: new(functionstest.Sender), Now: functionstest.NewClock().Now,
		Worker: "w", Tiers: segments.DefaultLimits(), Log: functionstest.Log(),
	}
	if err := f.Run(t.Context(), pkg.Key); err != nil {
		t.Fatal(err)
	}
	ledger := spool.Ledger{
		Batch: version(4), Ended: functionstest.Start,
		Outcomes: functionstest.Outcomes(t, version(4), book.Skipped, home+"spooled"),
		Links: []book.Link{
			functionstest.Link(t, home+"spooled", home+"deep", 2), functionstest.Link(t, home+"spooled", "http://three.example/", 2),
		},
	}
	functionstest.Put(t, bucket, layout.SpoolKey(0, version(4)), functionstest.Spool(t, ledger))
	at, err := address.Parse(home + "forgotten")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takedown.Forget(t.Context(), bucket, takedown.URL(at, functionstest.Start)); err != nil {
		t.Fatal(err)
	}
	return bucket
}

func tell(t *testing.T, bucket *memblob.Bucket, url string) why.Story {
	t.Helper()
	s, err := settings.Read(t.Context(), bucket, functionstest.Start)
	if err != nil {
		t.Fatal(err)
	}
	at, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	story, err := why.Tell(t.Context(), bucket, s, at)
	if err != nil {
		t.Fatal(err)
	}
	return story
}

// gist holds the parts of a story that a test compares.
type gist struct {
	State    account.State
	Reason   string
	Found    []string // for each link to the URL, in one string: the page with the link, and the decision on the link
	Asked    []string // for each request: the state of its outcome, with the word packed if a book has it
	Admitted bool
	Stored   bool
}

func gistOf(s why.Story) gist {
	g := gist{State: s.State, Reason: s.Reason, Admitted: s.Admitted != nil, Stored: s.Stored != nil}
	for _, f := range s.Found {
		g.Found = append(g.Found, f.On+" "+f.Decision)
	}
	for _, a := range s.Asked {
		g.Asked = append(g.Asked, strings.TrimSuffix(a.State.String()+map[bool]string{true: " packed"}[a.Packed], " "))
	}
	return g
}

func TestStories(t *testing.T) {
	bucket := filled(t)
	for url, want := range map[string]gist{
		home:                  {State: account.Stored, Asked: []string{"retry packed", "stored packed"}, Admitted: true, Stored: true},
		home + "failed":       {State: account.Failed, Reason: "test", Found: []string{home + " admitted"}, Asked: []string{"failed packed"}, Admitted: true},
		home + "new":          {State: account.Pending, Found: []string{home + " admitted"}, Admitted: true},
		home + "spooled":      {State: account.Skipped, Reason: "test", Found: []string{home + " admitted"}, Asked: []string{"skipped"}, Admitted: true},
		home + "deep":         {State: account.Pending, Found: []string{home + "spooled admitted"}, Admitted: true},
		"http://two.example/": {State: account.Skipped, Reason: "out of scope", Found: []string{home + " admitted"}},
		// the decision that pack will make
		"http://three.example/": {State: account.Skipped, Reason: "out of scope", Found: []string{home + "spooled out of scope"}},
		home + "unknown":        {},
		home + "forgotten":      {},
	} {
		if diff := cmp.Diff(want, gistOf(tell(t, bucket, url))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", url, diff)
		}
	}
	stored := tell(t, bucket, home)
	if at := stored.Stored; at.Segment == "" || at.Title != "page "+home || at.MIME != "text/html" || at.Bytes == 0 {
		t.Errorf("stored at %+v", at)
	}
	if !slices.Equal(stored.Seed, []string{functionstest.Collection}) {
		t.Errorf("seed of %v", stored.Seed)
	}
	if forgotten := tell(t, bucket, home+"forgotten"); !forgotten.Forgotten.Equal(functionstest.Start.Truncate(time.Second)) {
		t.Errorf("forgotten since %v", forgotten.Forgotten)
	}
}

// TestLostObjectsAreProblems deletes an object of each kind. The story must name it as a problem,
// and still tell everything else.
func TestLostObjectsAreProblems(t *testing.T) {
	for _, prefix := range []string{layout.Books, layout.Packages, layout.Segments} {
		bucket := filled(t)
		lost := functionstest.Keys(t, bucket, prefix)[0]
		if err := bucket.Delete(t.Context(), lost); err != nil {
			t.Fatal(err)
		}
		story := tell(t, bucket, home)
		if len(story.Problems) != 1 || !strings.Contains(story.Problems[0], lost) {
			t.Errorf("problems %q, want one with %s", story.Problems, lost)
		}
		if prefix == layout.Books && !strings.Contains(story.Problems[0], "run bucketsearch verify --repair") {
			t.Errorf("%q does not say what to do", story.Problems)
		}
		if !slices.Equal(story.Seed, []string{functionstest.Collection}) {
			t.Errorf("without %s the seed is forgotten", lost)
		}
	}
}

// TestLostGenerations deletes all generations of a partition's manifest. Tell must still return a
// story, with the problem that the generations are lost.
func TestLostGenerations(t *testing.T) {
	bucket := filled(t)
	for _, prefix := range []string{layout.Manifests, layout.Hints} {
		for _, key := range functionstest.Keys(t, bucket, prefix) {
			if err := bucket.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
	story := tell(t, bucket, home)
	if len(story.Problems) != 1 || !strings.Contains(story.Problems[0], "its generations are lost; run bucketsearch verify --repair") {
		t.Errorf("problems %q", story.Problems)
	}
}

// TestDueAndCleaned asks for a stored page by a URL with a query parameter that its collection drops
// from URLs. The story must be that of the URL without the parameter, and must say when the page is
// fetched again. A failed URL must have no such time. An unknown URL must keep its parameter.
func TestDueAndCleaned(t *testing.T) {
	bucket := filled(t)
	stored := tell(t, bucket, home+"?utm_source=news")
	if want := functionstest.Start.Add(24 * time.Hour); stored.URL != home || !stored.Due.Equal(want) {
		t.Errorf("%s is due at %v, want %v", stored.URL, stored.Due, want)
	}
	if failed := tell(t, bucket, home+"failed"); !failed.Due.IsZero() {
		t.Errorf("what failed is due at %v", failed.Due)
	}
	if unknown := tell(t, bucket, home+"unknown?utm_source=news"); unknown.State != "" || unknown.URL != home+"unknown?utm_source=news" {
		t.Errorf("%+v", unknown)
	}
}

// TestUnchanged fetches a stored page again, and it is unchanged: the story must still tell where
// the page is stored.
func TestUnchanged(t *testing.T) {
	bucket := filled(t)
	want := tell(t, bucket, home)
	functionstest.Learn(t, bucket, 0, book.Book{Outcomes: []book.Outcome{functionstest.Outcome(t, version(9), home, book.Unchanged)}})
	got := tell(t, bucket, home)
	if diff := cmp.Diff(want.Stored, got.Stored); diff != "" || got.Stored == nil || len(got.Asked) != len(want.Asked)+1 {
		t.Errorf("asked %v, stored (-before +after):\n%s", got.Asked, diff)
	}
}

func TestSitemap(t *testing.T) {
	bucket := memblob.New()
	const sitemap = "http://elsewhere.example/map.xml"
	functionstest.Publish(t, bucket, 1, func(c *collection.Collection) { c.Sitemaps, c.Schedule = []string{sitemap}, "daily at 09:30" }, home)
	read := functionstest.Outcome(t, version(1), sitemap, book.Skipped)
	read.Reason = membership.Sitemap
	functionstest.Learn(t, bucket, 0, book.Book{Outcomes: []book.Outcome{read}})
	story := tell(t, bucket, sitemap)
	want := why.Rule{Collection: functionstest.Collection, Version: 1, Sitemap: true}
	if diff := cmp.Diff(&want, story.Admitted); diff != "" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
	if due := time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC); !story.Due.Equal(due) || story.Reason != membership.Sitemap {
		t.Errorf("%s, due at %v, want %v", story.Reason, story.Due, due)
	}
}
