// Package report counts the stored pages of a bucket by language, collection, site and
// day, and measures the sizes of packages, books and segments and their parts, as table 1
// of Brin and Page (1998) does. It reads books, columns of segments, and the directories
// of objects, but no page.
package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/inventory"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Report has the numbers of pages in a bucket, and the sizes of its parts.
type Report struct {
	At    time.Time `json:"at"`
	Empty bool      `json:"empty,omitempty"` // true: nothing was stored yet at the moment of the report
	Total Row       `json:"total"`
	// a row for each language; the rows of Languages, Sources, Collections and Sites are in
	// descending order of pages
	Languages []Row `json:"languages"`
	// a row for each way in which the language is known: declared, guessed or overruled
	Sources     []Row  `json:"language_sources"`
	Collections []Row  `json:"collections"`
	Sites       []Row  `json:"sites"`
	Days        []Row  `json:"days"` // a row for each day (UTC) on which pages were downloaded, in order of time
	Sizes       []Size `json:"sizes"`
	// Faults has a sentence for every object, and every generation (version of a partition's
	// manifest), that is lost or damaged, so that its pages or bytes are not counted.
	Faults []string `json:"faults"`
}

// Row counts the pages of one language, collection, site or day. A page of two
// collections counts in both.
type Row struct {
	Value string `json:"value"` // the language, collection, site or other value that the row is for; "": unknown, or the page is not indexed yet
	Pages int    `json:"pages"`
	Sites int    `json:"sites"` // number of different sites to which the pages belong
	Bytes int64  `json:"bytes"` // compressed size of the pages in packages, in bytes
	// Assets counts assets of pages, such as images, and AssetBytes is their compressed
	// size. In Languages there are none.
	Assets     int   `json:"assets,omitempty"`
	AssetBytes int64 `json:"asset_bytes,omitempty"`
}

// Table returns a pointer to a table of the report: "language", "source" (how the language is
// known), "collection", "site" or "day". It returns nil for any other name.
func (r *Report) Table(by string) *[]Row {
	return map[string]*[]Row{"language": &r.Languages, "source": &r.Sources, "collection": &r.Collections, "site": &r.Sites, "day": &r.Days}[by]
}

// Make returns a report of a bucket as it was at the given time.
func Make(ctx context.Context, bucket blob.Reader, s *settings.Settings, at time.Time) (*Report, error) {
	all, err := inventory.Open(ctx, bucket, s, at)
	if err == nil {
		err = all.ReadIndex(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot make a report: %w", err)
	}
	r := &Report{At: at, Empty: all.Empty()}
	var languages, sources, collections, sites, days table
	total, site := table{}, ""
	last := uint32(0)
	for page, err := range all.Pages(ctx, inventory.Selection{}) {
		if err != nil {
			return nil, fmt.Errorf("cannot make a report: %w", err)
		}
		if number := page.Place.Site(); site == "" || number != last { // pages of a site are together
			last, site = number, siteOf(page.URL)
		}
		total.add("", site, &page)
		if !page.Asset {
			languages.add(page.Lang, site, &page)
			sources.add(page.LangSource, site, &page)
		}
		sites.add(site, site, &page)
		days.add(page.Time.UTC().Format(time.DateOnly), site, &page)
		for _, name := range page.Collections {
			collections.add(name, site, &page)
		}
	}
	if one := total.rows(); len(one) > 0 {
		r.Total = one[0]
	}
	r.Languages, r.Sources, r.Collections, r.Sites, r.Days = languages.rows(), sources.rows(), collections.rows(), sites.rows(), days.rows()
	slices.SortFunc(r.Days, func(a, b Row) int { return cmp.Compare(a.Value, b.Value) })
	unread, err := r.measure(ctx, bucket, all.Manifests())
	if err != nil {
		return nil, fmt.Errorf("cannot measure what is stored: %w", err)
	}
	for _, err := range slices.Concat(all.Faults, all.Unindexed, unread) {
		r.Faults = append(r.Faults, err.Error())
	}
	return r, nil
}

// siteOf returns the registrable domain of a URL, or the URL itself if it cannot be parsed.
func siteOf(url string) string {
	a, err := address.Parse(url)
	if err != nil {
		return url
	}
	return a.Site
}

// table counts pages by one property, such as the language. It has a tally for each value of the
// property, such as en.
type table struct {
	at map[string]*tally
}

// tally is a Row to which pages are still being added.
type tally struct {
	Row
	site string // site of the page that was counted last
}

// add counts a page or an asset in the row of the given value, such as "en" in the table of
// languages. The pages of one site must be added one after another, because add compares a page's
// site only with that of the previous page in the row. If the two differ, it counts a new site.
func (t *table) add(value, site string, page *inventory.Page) {
	if t.at == nil {
		t.at = make(map[string]*tally)
	}
	n := t.at[value]
	if n == nil {
		n = &tally{Row: Row{Value: value}}
		t.at[value] = n
	}
	if page.Asset {
		n.Assets++
		n.AssetBytes += page.Length
		return
	}
	n.Pages++
	n.Bytes += page.Length
	if n.site != site {
		n.Sites++
		n.site = site
	}
}

// rows returns a Row for each value of the property, sorted by number of pages, the largest first.
func (t *table) rows() (rows []Row) {
	for _, n := range t.at {
		rows = append(rows, n.Row)
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Value, b.Value)) })
	return rows
}
