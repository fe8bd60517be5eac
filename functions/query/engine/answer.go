package engine

import (
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// Answer is the answer to a search as it is written in JSON.
type Answer struct {
	Total int `json:"total"` // number of matching pages (or images) found; there may be more, see TotalExact
	// whether Total is the number of all matches; if not, there may be more
	TotalExact bool    `json:"total_exact"`
	TookMillis float64 `json:"took_ms"`
	// whether pages are missing because a part of the index is lost
	Incomplete bool `json:"incomplete,omitempty"`
	// whether the search ended before it had read everything, because its time was up, or a server that searches a part
	// of the index did not answer
	Partial    bool                `json:"partial,omitempty"`
	Notes      []string            `json:"notes,omitempty"` // sentences for the reader about what was cut, left out or damaged
	DidYouMean *Correction         `json:"did_you_mean,omitempty"`
	Results    []Snippet           `json:"results"`
	Facets     map[string][]Bucket `json:"facets,omitempty"`
	Translated []Translation       `json:"translated,omitempty"` // how the query was translated, for a request with the parameter across
	Cost       *meter.Cost         `json:"cost,omitempty"`
}

// Correction is the query that was probably meant where another was typed.
type Correction struct {
	Query      string `json:"query"`
	Total      int    `json:"total"`       // number of pages (or images) that it finds
	TotalExact bool   `json:"total_exact"` // whether Total is the number of all matches; if not, there may be more
}

// Snippet is one result of an Answer: a page or, with type:image, an image together with a page
// that shows it. The excerpt for an image is from its caption or, if it has none, from the words
// around it.
type Snippet struct {
	Image       *Picture `json:"image,omitempty"`
	URL         string   `json:"url"`
	Title       string   `json:"title"`
	Snippet     string   `json:"snippet"`
	Score       float64  `json:"score"`
	Lang        string   `json:"lang"`
	LangSource  string   `json:"lang_source,omitempty"` // how Lang is known: declared, guessed, or overruled (by the text); only with explain=score
	Type        string   `json:"type"`
	Collections []string `json:"collections,omitempty"`
	// section of the page in which the snippet begins; left out if it has no address of its own
	Section *Section `json:"section,omitempty"`
	// other sections that have as much of the query as the snippet, and words of it in their headings;
	// the best first; with Section at most three
	Sections []Section `json:"sections,omitempty"`
	Fetched  time.Time `json:"fetched,omitzero"`
	Date     string    `json:"date,omitempty"` // the page's own date, such as 2026-01-31; "" if it is not known
	// addresses of matching pages that are not shown because their text is the same, or nearly the
	// same
	Alike []string `json:"alike,omitempty"`
	// number of further matches of the same site that were moved behind the first ten results, to
	// make room for other sites; only with fold=site
	MoreOfSite int    `json:"more_of_site,omitempty"`
	Across     string `json:"across,omitempty"` // language into which the query was translated to find the page; only with across=
	// whether the operator has chosen that the page comes first for this query
	Pinned bool `json:"pinned,omitempty"`
	// whether no page is stored for the address: then only links to it were found, and snippet
	// shows their texts
	Unvisited   bool                `json:"unvisited,omitempty"`
	Explanation *search.Explanation `json:"explanation,omitempty"`
}

// Section is a part of a page with an address of its own.
type Section struct {
	Heading string `json:"heading"`
	URL     string `json:"url"` // the page's address with the fragment that leads to the heading
}

// Translation says how the words of a query were translated from one language to another.
type Translation struct {
	From  string           `json:"from"`
	To    string           `json:"to"`
	Words []TranslatedWord `json:"words"`
}

// TranslatedWord is a word of a query with the terms of the index that translate it, the most
// probable first. A word without such terms is not in the dictionary; it was searched as it is.
type TranslatedWord struct {
	Word string   `json:"word"`
	As   []string `json:"as,omitempty"`
}

// Picture is the image of a hit in a search for images, as it is written in the JSON answer.
type Picture struct {
	URL     string `json:"url"`
	Alt     string `json:"alt"` // alternative text of the image
	Caption string `json:"caption"`
	Stored  bool   `json:"stored"` // whether a copy of the image is stored
	// path of the stored copy of the image on the server that answers: /page?url=…
	Copy   string   `json:"copy,omitempty"`
	AlsoOn []string `json:"also_on,omitempty"` // addresses of other matching pages that show the image
}

// Bucket is one value of a facet, such as one site, with the number of matching pages that have
// this value.
type Bucket struct {
	Value    string `json:"value"`
	Pages    int    `json:"pages"`
	Estimate bool   `json:"estimate,omitempty"` // whether the count is an estimate from a sample of the matches
}

// Answer returns the result in the form in which it is written as JSON.
func (r Result) Answer() Answer {
	answer := Answer{
		Total:      r.Total,
		TotalExact: r.Exact,
		TookMillis: float64(r.Took.Microseconds()) / 1000,
		Incomplete: r.Incomplete,
		Partial:    r.Partial,
		Notes:      r.Sentences(),
		Results:    make([]Snippet, 0, len(r.Hits)),
		Translated: r.Translations(),
		Cost:       r.Cost,
	}
	if m := r.Meant; m != nil {
		answer.DidYouMean = &Correction{m.Text, m.Total, m.Exact}
	}
	for _, hit := range r.Hits {
		var further []Section
		for _, s := range hit.Further {
			further = append(further, Section(s))
		}
		answer.Results = append(answer.Results, Snippet{
			Image: r.picture(hit), URL: hit.URL, Title: hit.Title, Snippet: Plain(hit.Snippet), Section: (*Section)(hit.Section), Sections: further, Score: hit.Score, Lang: hit.Lang, LangSource: hit.LangSource, Type: hit.MIME,
			Collections: hit.Collections, Fetched: hit.Fetched, Date: dayOf(hit.Date), Alike: hit.Alike, MoreOfSite: hit.MoreOfSite, Pinned: hit.Pinned, Unvisited: hit.Unvisited, Across: hit.Across,
			Explanation: hit.Explanation,
		})
	}
	for _, facet := range r.Facets {
		if answer.Facets == nil {
			answer.Facets = make(map[string][]Bucket)
		}
		buckets := make([]Bucket, 0, len(facet.Values))
		for _, v := range facet.Values {
			buckets = append(buckets, Bucket{v.Value, v.Documents, facet.Sampled})
		}
		answer.Facets[facet.Name] = buckets
	}
	return answer
}

// dayOf returns the day of a page's own date, such as 2026-01-31; "" for the zero time.
func dayOf(date time.Time) string {
	if date.IsZero() {
		return ""
	}
	return date.Format(time.DateOnly)
}

// Translations returns how the query was translated, one element for each language into which
// this was done.
func (r Result) Translations() (all []Translation) {
	for _, t := range r.Translated {
		told := Translation{From: t.From, To: t.To, Words: make([]TranslatedWord, 0, len(t.Words))}
		for _, w := range t.Words {
			word := TranslatedWord{Word: w.Word}
			for _, as := range w.As {
				word.As = append(word.As, as.Term)
			}
			told.Words = append(told.Words, word)
		}
		all = append(all, told)
	}
	return all
}

// picture returns the image of a hit; nil if the hit is a page.
func (r Result) picture(hit search.Hit) *Picture {
	if hit.Image == nil {
		return nil
	}
	copied, stored := r.Copies[hit.Image.URL]
	return &Picture{
		URL: hit.Image.URL, Alt: hit.Image.Alt, Caption: hit.Image.Caption, Stored: stored, Copy: copied, AlsoOn: hit.Image.Also,
	}
}

// Sentences returns the notes of the search: sentences for the reader. If parts of the index are lost or
// damaged, the first sentence says so.
func (r Result) Sentences() []string {
	if r.Lost == nil {
		return r.Notes
	}
	return append([]string{r.Lost.Error()}, r.Notes...)
}

// Plain returns the text of fragments, without their marks.
func Plain(fragments []search.Fragment) string {
	var b strings.Builder
	for _, f := range fragments {
		b.WriteString(f.Text)
	}
	return b.String()
}
