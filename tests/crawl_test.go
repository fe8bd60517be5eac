package tests

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
)

// phraseOf returns three consecutive words of the first paragraph of an HTML page.
func phraseOf(body string) string {
	_, paragraph, _ := strings.Cut(body, "<p>")
	return strings.Join(strings.Fields(paragraph)[1:4], " ")
}

// trial is a generated site, with the result of a crawl without disturbances, to which the
// results of other crawls must be equal.
type trial struct {
	site    *site
	hosts   []host
	queries []string
	quiet   picture
}

// crawlDocs returns the arguments for a crawl of the directory /docs/ of all hosts of the
// generated site, with more flags.
func (tr *trial) crawlDocs(more ...string) []string {
	return append(append([]string{"--scope", "prefix"}, more...), tr.site.seeds("/docs/")...)
}

// newTrial generates a site and crawls it without disturbances.
func newTrial(t *testing.T, pages int) *trial {
	t.Helper()
	tr := new(trial)
	tr.site, tr.hosts = serveGenerated(t, pages)
	tr.queries = queries(tr.hosts)
	p := newPlace(t)
	p.crawl(tr.crawlDocs()...)
	p.verify()
	tr.quiet = p.picture(tr.queries)
	if diff := cmp.Diff(expected(tr.site, tr.hosts), tr.quiet.States); diff != "" {
		t.Fatalf("states of a quiet crawl (-want +got):\n%s", diff)
	}
	tr.mustBeServed(t)
	tr.mustPrint(t, p)
	tr.site.forget()
	return tr
}

// mustBeServed checks that each stored page is equal to the page that the site has served.
func (tr *trial) mustBeServed(t *testing.T) {
	t.Helper()
	for i, h := range tr.hosts {
		for path, a := range h {
			url := tr.site.origins[i] + path
			if stored, hits := tr.quiet.Pages[url]; hits && stored != a.body {
				t.Errorf("%s: stored %q, served %q", url, stored, a.body)
			}
		}
	}
}

// mustPrint checks that the commands status, page and search print what the bucket holds.
func (tr *trial) mustPrint(t *testing.T, p place) {
	t.Helper()
	status := p.status()
	if status.Pending != 0 || status.Stored != len(tr.quiet.Pages) || status.Discovered != len(tr.quiet.States) {
		t.Errorf("status: %d discovered, %d stored, %d pending; want %d, %d, 0",
			status.Discovered, status.Stored, status.Pending, len(tr.quiet.States), len(tr.quiet.Pages))
	}
	url := tr.site.origins[1] + "/docs/p1.html"
	if got := p.must("page", url); got != tr.quiet.Pages[url] {
		t.Errorf("page %s printed %q, want %q", url, got, tr.quiet.Pages[url])
	}
	printed := decode[engine.Answer](t, p.must("search", "--json", "-n", "3", "castle", "garden"))
	want := tr.quiet.Answers["castle garden"]
	for i := range printed.Results {
		printed.Results[i].Fetched = time.Time{}
	}
	if diff := cmp.Diff(found{want.Total, want.Results[:3]}, found{printed.Total, printed.Results}, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("search --json (-want +got):\n%s", diff)
	}
	if listed := tr.quiet.Answers["zephyr"].Total; listed != len(tr.site.origins) {
		t.Errorf("%d of %d pages are found that only a sitemap lists", listed, len(tr.site.origins))
	}
	if want.Total == 0 || len(tr.quiet.Answers["xylophone"].Results) != 0 {
		t.Error("queries find nothing where they should, or something where nothing is")
	}
}

func TestCrawl(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 50)
	for _, test := range []struct {
		name  string
		flags []string
		vain  float64 // maximum share of visits to pages that were visited before
	}{
		{"seven partitions", []string{"--partitions", "7"}, 0},
		{"isolated", []string{"--isolated"}, 0},
		{"isolated, seven partitions", []string{"--isolated", "--partitions", "7"}, 0},
		// Chaos doubles three messages in ten, some of them batches to fetch.
		{"chaos", []string{"--chaos", "1"}, 0.4},
		{"chaos, seven partitions", []string{"--chaos", "2", "--partitions", "7"}, 0.4},
		{"chaos, isolated, seven partitions", []string{"--chaos", "3", "--isolated", "--partitions", "7"}, 0.4},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t)
			p.crawl(tr.crawlDocs(test.flags...)...)
			p.verify()
			mustEqual(t, test.name, tr.quiet, p.picture(tr.queries))
			visits := tr.site.forget()
			vain := twice(visits) - tr.retries()
			t.Logf("%d visits, %d of them in vain", len(visits), vain)
			if float64(vain) > test.vain*float64(len(visits)) {
				t.Errorf("%d of %d visits were to pages that had been fetched", vain, len(visits))
			}
		})
	}
}

// retries returns how many repeated requests are to be expected in one crawl of the generated
// hosts. The crawler requests a URL again, twice, if the answer had status 500 or was cut short,
// because such failures may be temporary.
func (tr *trial) retries() int {
	n := 0
	for _, h := range tr.hosts {
		for _, a := range h {
			if a.becomes == "failed: http 500" || a.becomes == "failed: cut short" {
				n += 2
			}
		}
	}
	return n
}
