// Package check tries a collection before it is crawled. It requests the seeds, the robots.txt files of
// their hosts, sitemaps, and, if this is asked for, a few more pages. The function fetch sends these
// requests, with the rules on addresses, delays and robots.txt that hold for a crawl. Fetch puts its
// results into a bucket in memory, from which check reads them; nothing is stored permanently.
//
// The report says of each seed whether it leads to a page that searches can find. It also says which
// links of each page the collection admits or refuses, and which of its settings decides this. From the
// sitemaps check computes how long a crawl takes at least.
//
//	what is requested                        at most
//	seeds                                    maxSeeds
//	targets of redirects and canonical links collection.MaxHops in a row, if the collection admits them
//	sitemaps                                 maxSitemaps
//	further pages                            Task.Pages: targets of links, and pages in sitemaps
//
// Report.Notes says what is left out because of these limits, or because MaxTime was over.
package check

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

const (
	maxSeeds    = batch.MaxTargets // greatest number of seeds that are requested
	maxSitemaps = 20               // greatest number of sitemaps that are requested
	// MaxPages is the greatest value of Task.Pages.
	MaxPages = 1000
	// MaxTime is the time after which no request is sent any more. It is long enough for ten pages of a
	// host with the longest delay that a robots.txt can ask for.
	MaxTime = 15 * time.Minute
	// MaxBytes is the greatest total size of the pages of one batch, in bytes (see fetch.Limits). When a
	// batch reaches it, the remaining URLs of the batch are not requested.
	MaxBytes = 64 << 20
)

// Fetcher requests the URLs of a batch and puts a spool object with the results into a bucket.
// fetch.Function implements it.
type Fetcher interface {
	Run(ctx context.Context, b batch.Batch) error
}

// Task is the check of one collection.
type Task struct {
	Collection string             // name of the collection
	Settings   *settings.Settings // settings that have the collection, and no other
	Fetch      Fetcher
	Bucket     blob.Reader // bucket into which Fetch puts its results
	Pages      int         // number of further pages that are requested, of those to which the seeds lead
	Now        func() time.Time
	// Progress, if not nil, is called before each group of requests. The parameter done is the number of
	// URLs that have been requested so far; total is done plus the number of URLs in this group.
	Progress func(done, total int)
}

// Report is the result of a check. Its lists are in the order of the requests, except that each page is
// followed by the pages to which its redirects and canonical links lead.
type Report struct {
	Collection string    `json:"collection"`
	Pages      []Page    `json:"pages"` // seeds first; each is followed by the pages to which its redirects lead
	Sitemaps   []Sitemap `json:"sitemaps"`
	Hosts      []Host    `json:"hosts"`
	// Seconds is the shortest time that a crawl of all pages in the sitemaps takes, in seconds, as far as
	// the limits of the collection admit these pages (see checker.cost). It is 0 if no sitemap names an
	// admitted page.
	Seconds float64  `json:"seconds"`
	Listed  int64    `json:"listed"` // number of admitted pages in the sitemaps, each counted once
	Notes   []string `json:"notes,omitempty"`
}

// Page is a page that was requested, or that robots.txt forbids to request.
type Page struct {
	URL    string `json:"url"`
	Seed   bool   `json:"seed"`
	From   string `json:"from,omitempty"` // page that leads to it by a redirect or a canonical link; "" for a seed
	Depth  uint16 `json:"depth"`          // number of links from a seed
	State  string `json:"state"`          // name of a book.State, such as stored
	Reason string `json:"reason,omitempty"`
	Detail string `json:"detail,omitempty"`
	Status uint16 `json:"status,omitempty"` // HTTP status; 0 if there was no answer

	// To is the other address to which a redirect or a canonical link of the page leads; "" if there is
	// none. Refused says why the collection refuses this address; "" if it admits it.
	To      string `json:"to,omitempty"`
	Refused string `json:"to_refused,omitempty"`

	Title      string `json:"title,omitempty"`
	MIME       string `json:"mime,omitempty"`
	Language   string `json:"language,omitempty"`
	LangSource string `json:"language_source,omitempty"` // see language.Source
	NoIndex    bool   `json:"noindex,omitempty"`         // the page asks not to be found
	NoFollow   bool   `json:"nofollow,omitempty"`        // the page asks not to follow its links
	// WrongLanguage says that the collection is limited to a language, and the page is not in this
	// language, so that searches do not show the page.
	WrongLanguage bool `json:"wrong_language,omitempty"`

	Links []Group `json:"links,omitempty"` // links of the page, each target counted once; admitted ones first
}

// IsStored reports whether a crawl stores the page.
func (p *Page) IsStored() bool { return p.State == book.Stored.String() }

// IsFound reports whether a crawl stores the page, and searches can find it.
func (p *Page) IsFound() bool { return p.IsStored() && !p.NoIndex && !p.WrongLanguage }

// Sitemap is a sitemap that was requested.
type Sitemap struct {
	URL    string  `json:"url"`
	Found  bool    `json:"found"`            // it was read as a sitemap, to its end or to a break
	Reason string  `json:"reason,omitempty"` // why it was not read
	Detail string  `json:"detail,omitempty"` // what is missing from it, in words
	Links  []Group `json:"links,omitempty"`  // pages that it lists; admitted ones first
}

// Host is a host whose pages were requested.
type Host struct {
	Name    string  `json:"name"`
	Robots  int     `json:"robots"`          // HTTP status of the last robots.txt that was requested; 0 if there was no answer
	Delay   float64 `json:"delay_seconds"`   // pause between requests, in seconds: that of the collection, or the longer one that robots.txt asks for
	Answer  float64 `json:"answer_seconds"`  // average time of an answer, in seconds
	Listed  int64   `json:"listed"`          // number of admitted pages in the sitemaps
	Seconds float64 `json:"seconds"`         // time that a crawl of these pages takes at least, in seconds
	Page    float64 `json:"seconds_of_page"` // time that each page takes, in seconds
}

// Unfound returns the URLs of seeds that lead to no page that searches can find, neither themselves
// nor by redirects.
func (r *Report) Unfound() (seeds []string) {
	pages := make(map[string]*Page)
	for i := range r.Pages {
		pages[r.Pages[i].URL] = &r.Pages[i]
	}
	for i := range r.Pages {
		if !r.Pages[i].Seed {
			continue
		}
		p := &r.Pages[i]
		for hops := 0; p != nil && !p.IsFound() && hops <= collection.MaxHops; hops++ {
			p = pages[p.To]
		}
		if p == nil || !p.IsFound() {
			seeds = append(seeds, r.Pages[i].URL)
		}
	}
	return seeds
}

// Run checks the collection. It returns an error if the collection is invalid, if a request to the bucket
// in memory fails, if fetch fails, or if ctx ends. A page that cannot be fetched is no error: the report
// says so.
func (t *Task) Run(ctx context.Context) (*Report, error) {
	c := &checker{Task: t, collection: t.Settings.Collection(t.Collection), end: t.Now().Add(MaxTime), hosts: map[string]*host{},
		asked: map[layout.Identity]bool{}, listed: map[layout.Identity]bool{}}
	c.report.Collection = t.Collection
	c.report.Pages, c.report.Sitemaps = []Page{}, []Sitemap{}
	var err error
	if c.explainer, err = c.collection.Explain(); err != nil {
		return nil, err
	}
	if err := c.seeds(ctx); err != nil {
		return nil, err
	}
	if err := c.readSitemaps(ctx); err != nil {
		return nil, err
	}
	if err := c.further(ctx); err != nil {
		return nil, err
	}
	c.cost()
	return &c.report, nil
}

// checker is the state of a Task that runs.
type checker struct {
	*Task
	collection collection.Collection
	explainer  collection.Explainer
	end        time.Time // time after which nothing more is requested
	hosts      map[string]*host
	names      []string                 // keys of hosts, in the order of the first requests
	asked      map[layout.Identity]bool // URLs that were requested or are noted in sitemaps or pages
	sitemaps   []target                 // sitemaps that are to be requested
	pages      []target                 // admitted pages to which links lead, that are not requested yet
	listed     map[layout.Identity]bool // admitted pages in the sitemaps
	done       int                      // number of requested URLs, for Progress
	late       int                      // number of URLs that were not requested because the time was over
	report     Report
}

// seeds requests the seeds, and the addresses to which they lead by redirects and canonical links.
func (c *checker) seeds(ctx context.Context) error {
	seeds := c.collection.Seeds
	if len(seeds) > maxSeeds {
		c.note("%d of %d seeds are checked, the first ones", maxSeeds, len(seeds))
		seeds = seeds[:maxSeeds]
	}
	var targets []target
	for _, seed := range seeds {
		at, err := collection.ParseSeed(seed.URL)
		if err != nil {
			return err
		}
		targets = append(targets, target{address: at, seed: true})
	}
	pages, err := c.askPages(ctx, targets)
	c.report.Pages = append(c.report.Pages, pages...)
	return err
}

// askPages requests pages, and those to which they lead by redirects and canonical links, if the
// collection admits these. Each page in the result is followed by those to which it leads.
func (c *checker) askPages(ctx context.Context, targets []target) ([]Page, error) {
	var all []Page
	for _, t := range targets {
		c.asked[t.address.ID] = true
	}
	for len(targets) > 0 {
		results, err := c.ask(ctx, targets)
		if err != nil {
			return all, err
		}
		targets = nil
		for _, r := range results {
			p, next, err := c.page(r)
			if err != nil {
				return all, err
			}
			at := len(all)
			if i := slices.IndexFunc(all, func(before Page) bool { return before.To == p.URL && p.From == before.URL }); i >= 0 {
				at = i + 1
			}
			all = slices.Insert(all, at, p)
			if next != nil && c.isNew(next.address) {
				targets = append(targets, *next)
			}
		}
	}
	return all, nil
}

// further requests pages from the list c.pages (targets of links, and pages in sitemaps), up to the
// number Task.Pages. Links of the seeds come first, then pages in sitemaps, then links of the pages
// requested here. Links of one page are in the order of the hashes of their addresses: a sample that is
// the same at each check.
func (c *checker) further(ctx context.Context) error {
	for left := c.Pages; left > 0 && len(c.pages) > 0; {
		wave := c.pages[:min(left, len(c.pages), batch.MaxTargets)]
		c.pages = c.pages[len(wave):]
		pages, err := c.askPages(ctx, wave)
		if err != nil {
			return err
		}
		c.report.Pages = append(c.report.Pages, pages...)
		left -= len(wave)
	}
	return nil
}

// isNew reports whether an address is seen for the first time, that is, was neither requested nor put
// into a list of targets before. It marks the address as seen.
func (c *checker) isNew(a address.Address) bool {
	known := c.asked[a.ID]
	c.asked[a.ID] = true
	return !known
}

func (c *checker) note(format string, args ...any) {
	c.report.Notes = append(c.report.Notes, fmt.Sprintf(format, args...))
}
