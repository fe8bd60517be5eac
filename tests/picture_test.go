package tests

import (
	"context"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// picture holds everything in a bucket that a user can see, to compare two buckets.
type picture struct {
	States  map[string]string // state of each URL, such as "stored" or "skipped: robots"
	Pages   map[string]string // body of the stored page, by URL
	Answers map[string]found  // results, by query
	Indexed int               // number of documents in the segments, earlier versions of pages included
}

// found holds the results of a query.
type found struct {
	Total   int
	Results []engine.Snippet
}

// attach opens the bucket in the place's data directory, and passes it to a callback. No program
// may run in the directory.
func (p place) attach(look func(context.Context, *system.Attached)) {
	p.t.Helper()
	attached, err := system.Attach(p.t.Context(), system.Options{
		Data: p.data, Self: []string{program, "serve-store"}, Getenv: os.Getenv,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() {
		if err := attached.Close(); err != nil {
			p.t.Error(err)
		}
	}()
	look(p.t.Context(), attached)
}

// picture returns what a user can see in the bucket of the place (a data directory): the states of
// all URLs, the bodies of the stored pages, and the results of the given search queries.
func (p place) picture(asked []string) picture {
	p.t.Helper()
	var seen picture
	p.attach(func(ctx context.Context, attached *system.Attached) { seen = p.pictureOf(ctx, attached, asked) })
	return seen
}

func (p place) pictureOf(ctx context.Context, attached *system.Attached, asked []string) picture {
	p.t.Helper()
	inForce, err := settings.Read(ctx, attached.Bucket, time.Now())
	if err != nil {
		p.t.Fatal(err)
	}
	books, err := account.Read(ctx, attached.Bucket, inForce)
	if err != nil {
		p.t.Fatal(err)
	}
	seen := picture{States: map[string]string{}, Pages: map[string]string{}, Answers: map[string]found{}}
	answers, err := engine.New(attached.Bucket, engine.Options{
		Settings: &settings.Cache{Bucket: attached.Bucket, Now: time.Now, Age: time.Hour}, Now: time.Now, Age: time.Hour,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	for u, err := range books.All(ctx, layout.Range{}) {
		if err != nil {
			p.t.Fatal(err)
		}
		seen.States[u.Address.URL] = stateOf(u)
		if u.State != account.Stored {
			continue
		}
		page, err := answers.Page(ctx, u.Address, time.Time{})
		if err != nil {
			p.t.Fatal(err)
		}
		seen.Pages[u.Address.URL] = string(page.Data)
	}
	for _, text := range asked {
		result, err := answers.Search(ctx, engine.Query{Query: search.Query{Text: text, Size: 20}})
		if err != nil {
			p.t.Fatal(err)
		}
		reply := result.Answer()
		for i := range reply.Results {
			reply.Results[i].Fetched = time.Time{} // the time differs from run to run
		}
		seen.Answers[text] = found{reply.Total, reply.Results}
	}
	status, err := system.ReadStatus(ctx, attached.Bucket, countblob.Counts{}, "")
	if err != nil {
		p.t.Fatal(err)
	}
	seen.Indexed = status.Documents
	return seen
}

func stateOf(u account.URL) string {
	if u.Reason == "" {
		return string(u.State)
	}
	return string(u.State) + ": " + u.Reason
}

// mustEqual fails the test if the picture of a run differs from that of the run without
// disturbances. The message of the failure names the run.
func mustEqual(t testing.TB, what string, want, got picture) {
	t.Helper()
	if diff := cmp.Diff(want.States, got.States); diff != "" {
		t.Errorf("%s: states (-quiet +got):\n%s", what, diff)
	}
	if diff := cmp.Diff(want.Pages, got.Pages); diff != "" {
		t.Errorf("%s: pages (-quiet +got):\n%s", what, diff)
	}
	slight := 0.01
	if want.Indexed != got.Indexed {
		slight = 2
	}
	for text := range want.Answers {
		mustAnswerAlike(t, what+": "+text, want.Answers[text], got.Answers[text], slight)
	}
}

// mustAnswerAlike fails the test if two crawls of the same pages answer a query differently. Scores may
// differ by the given share, 0.01 or more: which headers and menus count as repeated, and so how long
// texts are, depends on the packages, whose sizes depend on the time that requests take. If pages were
// stored twice, scores may halve: until a merge drops the earlier versions, they count among the documents
// that have a word. So results with nearly the score of the last one may be missing, and
// excerpts may begin elsewhere.
func mustAnswerAlike(t testing.TB, what string, want, got found, slight float64) {
	t.Helper()
	if want.Total != got.Total {
		t.Errorf("%s: %d pages, want %d", what, got.Total, want.Total)
	}
	for _, pair := range [][2]found{{want, got}, {got, want}} {
		others := make(map[string]engine.Snippet)
		last := 0.0
		for _, r := range pair[1].Results {
			others[r.URL], last = r, r.Score
		}
		for _, r := range pair[0].Results {
			other, known := others[r.URL]
			switch {
			case !known && r.Score > last*(1+slight):
				t.Errorf("%s: only one of the crawls finds %s, with a score of %v", what, r.URL, r.Score)
			case known && (math.Abs(other.Score-r.Score) > slight*r.Score || other.Title != r.Title || other.Lang != r.Lang || other.Type != r.Type || !slices.Equal(other.Collections, r.Collections)):
				t.Errorf("%s: the crawls find %+v and %+v", what, r, other)
			}
		}
	}
}

// expected returns the states that the URLs of the generated hosts must have after a crawl of
// /docs/ on each host.
func expected(s *site, hosts []host) map[string]string {
	states := make(map[string]string)
	for i, h := range hosts {
		for path, a := range h {
			if a.becomes != "" {
				states[s.origins[i]+path] = a.becomes
			}
		}
	}
	return states
}

// queries returns search queries: words and phrases of the generated pages, and some that no
// page has.
func queries(hosts []host) []string {
	asked := []string{
		"search", "engine index", "castle garden", "+river -forest", "violet amber crimson", "the of and", "never",
		"page", "golden copper marble bridge", "索引", "検索エンジン", "日本語", "xylophone", "zephyr", "127.0.0.2", "+silver +velvet",
	}
	for i := range 5 {
		asked = append(asked, `"`+phraseOf(hosts[0]["/docs/"+pageName(i)].body)+`"`)
	}
	return asked
}
