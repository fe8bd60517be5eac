package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/strategy/curation"
)

// curate publishes the curation of a TOML file, and waits until engines must have noticed it.
func (s *store) curate(file string) {
	s.T.Helper()
	d, err := curation.Parse("search.toml", []byte(file))
	s.Check(err)
	_, err = curation.Publish(s.T.Context(), s.Bucket, d)
	s.Check(err)
	s.Clock.Advance(1e12)
}

// addresses returns the paths of the hits, with a * before pinned ones.
func addresses(r Result) (all []string) {
	for _, h := range r.Hits {
		path := strings.TrimPrefix(h.URL, "https://example.org/")
		if h.Pinned {
			path = "*" + path
		}
		all = append(all, path)
	}
	return all
}

func manual(path, title, body string) querytest.Page {
	return querytest.Page{URL: "https://example.org/" + path, MIME: "text/html", Data: body, Title: title, Body: body, Lang: "en"}
}

// TestCuration searches three segments in two partitions, before and after pinned and banned pages are
// published, and after they are removed. It checks the hits and their total number, that stored copies of
// banned pages can still be read, and that a search with a curation takes no more GET requests than one
// without.
func TestCuration(t *testing.T) {
	s := newStore(t, 2)
	s.Publish(manual("new/install", "Install", "how to install the server"), manual("old/install", "Install", "install install install the old server"))
	s.Publish(manual("old/faq", "Questions", "install questions"), manual("older", "Older", "install older"), manual("download", "Download", "all files"))
	s.Publish(manual("old-news", "Old news", "install news"))
	meter := countblob.New(s.Bucket)
	e := s.engine(meter)
	ask := func(text string, want ...string) Result {
		t.Helper()
		found, err := e.Search(t.Context(), Query{Query: search.Query{Text: text, Size: 10, Facets: []string{search.Lang}}})
		s.Check(err)
		got := addresses(found)
		slices.Sort(want)
		sorted := slices.Sorted(slices.Values(got))
		inFacets := 0
		for _, f := range found.Facets[0].Values {
			inFacets += f.Documents
		}
		if !slices.Equal(sorted, want) || found.Total != len(want) || !found.Exact || inFacets != len(want) {
			t.Errorf("%q: %d %q, want %q; facets %+v", text, found.Total, got, want, found.Facets)
		}
		return found
	}
	ask("install", "new/install", "old/install", "old/faq", "older", "old-news")
	before := meter.Counts()
	ask("install", "new/install", "old/install", "old/faq", "older", "old-news")
	plain := meter.Counts().Get - before.Get

	s.curate(`
[[pins]]
queries = ["Install", "get   the server"]
pages = ["https://example.org/download", "https://example.org/absent", "https://example.org/older"]
[[synonyms]]
words = ["setup", "install"]
[[synonyms]]
words = ["everything", "all files"]
[[bans]]
pages = ["https://example.org/old/*"]
[[bans]]
queries = ["server news"]
pages = ["https://example.org/old-news", "https://example.org/n*"]
`)
	if got := ask("  INSTALL ", "*download", "*older", "new/install", "old-news"); !slices.Equal(addresses(got)[:2], []string{"*download", "*older"}) {
		t.Errorf("pinned pages: %q", addresses(got))
	}
	ask("get the  Server", "*download", "*older", "new/install")
	ask("installing", "new/install", "older", "old-news")
	ask("setup", "new/install", "older", "old-news")
	ask("everything", "download")
	ask("server news")
	ask("news server", "new/install", "old-news")
	ask("https://example.org/old/faq#part", "new/install", "older", "download", "old-news") // the page is hidden, too
	before = meter.Counts()
	ask("installing", "new/install", "older", "old-news")
	if more := meter.Counts().Get - before.Get; more > plain {
		t.Errorf("%d GET, without curation %d", more, plain)
	}
	suggested, err := e.Suggest(t.Context(), search.Suggesting{Text: "que", Size: 5})
	if s.Check(err); slices.ContainsFunc(suggested, func(f search.Suggestion) bool { return f.URL != "" || f.Text == "Questions" }) {
		t.Errorf("suggested %+v, whose page is banned", suggested) // only the word questions may be, which is not a page
	}
	for _, path := range []string{"old/faq", "old-news"} {
		if _, err := e.Page(t.Context(), s.Address("https://example.org/"+path), time.Time{}); err != nil {
			t.Errorf("the stored copy of a banned page: %v", err)
		}
	}
	then, err := e.Search(t.Context(), Query{Query: search.Query{Text: "install", Size: 10}, AsOf: s.Clock.Now()})
	if s.Check(err); !slices.Equal(addresses(then)[:2], []string{"*download", "*older"}) || then.Total != 4 {
		t.Errorf("of a past moment: %q", addresses(then))
	}

	// A segment that is added later has its banned pages hidden, too.
	s.Publish(manual("old/later", "Later", "install later"))
	s.Clock.Advance(1e12)
	ask("installing", "new/install", "older", "old-news")

	s.curate("")
	ask("install", "new/install", "old/install", "old/faq", "older", "old-news", "old/later")
}

// TestCurationDamaged checks that searches go on when versions of the curation are damaged. The newest
// version that is not damaged is then in force, or none if all are damaged, and the log names what is
// damaged.
func TestCurationDamaged(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(manual("a", "A", "install"), manual("b", "B", "install"))
	for _, page := range []string{"a", "b"} {
		s.curate(fmt.Sprintf("[[bans]]\npages = ['https://example.org/%s']", page))
	}
	damage := func(version uint64) {
		for _, key := range []string{layout.CurationKey(version), layout.CopyKey(layout.CurationKey(version))} {
			s.Check(s.Bucket.Replace(t.Context(), key, []byte("{")))
		}
	}
	for _, step := range []struct {
		damaged uint64
		want    []string
		named   string
	}{{0, []string{"a"}, ""}, {2, []string{"b"}, layout.CurationKey(2)}, {1, []string{"a", "b"}, layout.CurationKey(2)}} {
		if step.damaged > 0 {
			damage(step.damaged)
		}
		var log bytes.Buffer
		e := s.logging(s.Bucket, &log)
		found, err := e.Search(t.Context(), Query{Query: search.Query{Text: "install", Size: 10}})
		if s.Check(err); !slices.Equal(slices.Sorted(slices.Values(addresses(found))), step.want) || !strings.Contains(log.String(), step.named) {
			t.Errorf("version %d damaged: %q, want %q; log:\n%s", step.damaged, addresses(found), step.want, &log)
		}
	}
}
