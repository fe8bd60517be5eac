package compat

import (
	"fmt"
	"net/url"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// The types of records, which are those of DocSearch. See the package comment.
const (
	pageRecord    = "lvl1"
	sectionRecord = "lvl2"
	contentRecord = "content"
)

// record is what is found: a page, or a section of a page.
type record struct {
	id          string // letters, digits and hyphens; no other record of an answer has it
	kind        string // pageRecord, sectionRecord or contentRecord
	url         string // of the section, if the record is of one
	page        string // URL of the page
	place       string // where the page is: its collection or site
	site, lang  string
	media, date string
	collections []string
	title       []search.Fragment
	heading     []search.Fragment // of the section; none if the record is not of one
	content     []search.Fragment // the snippet
}

// recordsOf returns the records of a hit. Without sections, there is one record. With sections, there is one
// for the page and one for each of its matching sections. If byCollection is true, the place of a page
// (lvl0) is its first collection, else its site. The parameter words has the words of the query in lower
// case, which are marked in headings.
func recordsOf(hit *search.Hit, sections, byCollection bool, words map[string]bool) []record {
	base := record{
		id: hit.ID.String(), kind: contentRecord, url: hit.URL, page: hit.URL, place: hit.Site, site: hit.Site, lang: hit.Lang, media: hit.MIME,
		collections: hit.Collections, title: hit.MarkedTitle, content: hit.Snippet,
	}
	if base.title == nil {
		base.title = []search.Fragment{{Text: hit.Title}}
	}
	if byCollection && len(hit.Collections) > 0 {
		base.place = hit.Collections[0]
	}
	if !hit.Date.IsZero() {
		base.date = hit.Date.Format(time.DateOnly)
	}
	own := base
	if hit.Section != nil {
		own.url, own.heading = hit.Section.URL, markWords(hit.Section.Heading, words)
	}
	if !sections {
		return []record{own}
	}
	base.kind = pageRecord
	all := []record{base}
	if hit.Section != nil {
		all[0].content = nil
		all = append(all, own)
	}
	for _, section := range hit.Further {
		r := base
		r.kind, r.url, r.heading, r.content = sectionRecord, section.URL, markWords(section.Heading, words), nil
		all = append(all, r)
	}
	for i := range all[1:] {
		all[i+1].id = fmt.Sprintf("%s-%d", hit.ID, i+1)
	}
	return all
}

// anchor returns the fragment of the section's URL, without #; "" if the record is of the page.
func (r *record) anchor() string {
	at, err := url.Parse(r.url)
	if err != nil || r.url == r.page {
		return ""
	}
	return at.Fragment
}

// hierarchy returns the texts of the levels lvl0 (place), lvl1 (title) and, if the record is of a section,
// lvl2 (heading).
func (r *record) hierarchy() [][]search.Fragment {
	texts := [][]search.Fragment{{{Text: r.place}}, r.title}
	if len(r.heading) > 0 {
		texts = append(texts, r.heading)
	}
	return texts
}

// collectionsOf returns the record's collections as a list that is never null in JSON.
func (r *record) collectionsOf() []string { return append([]string{}, r.collections...) }
