package client

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Query is a search. A field other than Text that has its zero value is not sent, so the server uses its
// default.
type Query struct {
	Text string // words of the query, in the language of the search page
	N    int    // greatest number of results, 1 to 100; 0 for the usual number, 10
	From int    // number of results that are left out before the first

	Site, Lang, Collection, Type []string // only pages with one of these values

	// only pages whose own dates are in this period: on the day of After or later, but before that of Before
	After, Before time.Time
	AsOf          time.Time // searches the state of this time

	Across       []string // also finds pages in these languages by translating the query
	ByDate       bool     // the newest pages first, by their own dates
	FoldSites    bool     // at most two of the first ten results are of one site
	Facets       []string // what pages are counted by: site, lang, collection, type, year (of the page's own date)
	Timeout      time.Duration
	Highlight    bool // asks for Result.TitleHTML and Result.SnippetHTML
	ExplainScore bool // asks for Result.Explanation
	ExplainCost  bool // asks for Answer.Cost
}

// values returns the query as parameters of the API.
func (q *Query) values() url.Values {
	v := url.Values{"q": {q.Text}}
	for name, all := range map[string][]string{"site": q.Site, "lang": q.Lang, "collection": q.Collection, "type": q.Type, "facet": q.Facets} {
		if len(all) > 0 {
			v[name] = all
		}
	}
	for name, n := range map[string]int64{"n": int64(q.N), "from": int64(q.From), "timeout": q.Timeout.Milliseconds()} {
		if n != 0 {
			v.Set(name, strconv.FormatInt(n, 10))
		}
	}
	setTime(v, "after", q.After)
	setTime(v, "before", q.Before)
	setTime(v, "asof", q.AsOf)
	if len(q.Across) > 0 {
		v.Set("across", strings.Join(q.Across, ","))
	}
	if q.ByDate {
		v.Set("sort", "date")
	}
	if q.FoldSites {
		v.Set("fold", "site")
	}
	if q.Highlight {
		v.Set("highlight", "html")
	}
	if q.ExplainScore {
		v.Add("explain", "score")
	}
	if q.ExplainCost {
		v.Add("explain", "cost")
	}
	return v
}

func setTime(v url.Values, name string, t time.Time) {
	if !t.IsZero() {
		v.Set(name, t.Format(time.RFC3339Nano))
	}
}

// Answer is the answer to a search.
type Answer struct {
	Total      int                `json:"total"`       // number of matching pages (or images) found
	TotalExact bool               `json:"total_exact"` // whether Total is the number of all matches
	TookMillis float64            `json:"took_ms"`
	Incomplete bool               `json:"incomplete"` // whether pages are missing because a part of the index is lost
	Partial    bool               `json:"partial"`    // whether the search ended early, because its time was up, or a part of the index could not be asked
	Notes      []string           `json:"notes"`      // sentences for people about what was cut, left out or damaged
	DidYouMean *Correction        `json:"did_you_mean"`
	Results    []Result           `json:"results"`
	Facets     map[string][]Count `json:"facets"` // values by facet, the most frequent first, but years descending
	Translated []Translation      `json:"translated"`
	Cost       *Cost              `json:"cost"`
	// paths on the server of the next and the previous page of results; "" if there is none
	Next     string `json:"next"`
	Previous string `json:"previous"`
}

// Correction is the query that was probably meant where another was typed.
type Correction struct {
	Query      string `json:"query"`
	Total      int    `json:"total"`       // number of pages (or images) that it finds
	TotalExact bool   `json:"total_exact"` // whether Total is the number of all matches
}

// Suggestion is offered to somebody who is typing a query.
type Suggestion struct {
	Text  string `json:"text"`
	URL   string `json:"url"`   // address of the page whose title Text is; "" if Text is a query
	Pages int    `json:"pages"` // about the number of pages that have the text
}

// Result is one result of a search: a page or, if Image is not nil, an image with a page that shows
// it.
type Result struct {
	URL         string       `json:"url"`
	Title       string       `json:"title"`
	Snippet     string       `json:"snippet"`
	Marks       Marks        `json:"marks"`
	TitleHTML   string       `json:"title_html"`   // title in which <mark> encloses the words of the query
	SnippetHTML string       `json:"snippet_html"` // snippet in which <mark> encloses the words of the query
	Score       float64      `json:"score"`
	Lang        string       `json:"lang"`
	LangSource  string       `json:"lang_source"`
	Type        string       `json:"type"` // media type
	Collections []string     `json:"collections"`
	Section     *Section     `json:"section"`  // part of the page in which the snippet begins; nil if it has no address of its own
	Sections    []Section    `json:"sections"` // other parts with as much of the query, the best first
	Fetched     time.Time    `json:"fetched"`
	Date        string       `json:"date"`         // the page's own date, such as 2026-01-31; "" if it is not known
	Alike       []string     `json:"alike"`        // addresses of pages with about the same text, which are not shown
	MoreOfSite  int          `json:"more_of_site"` // number of further results of the site that Query.FoldSites has moved down
	Across      string       `json:"across"`       // language into which the query was translated to find the page
	Pinned      bool         `json:"pinned"`       // whether the operator has chosen that the page comes first for this query
	Unvisited   bool         `json:"unvisited"`    // whether no page is stored: only links to it were found; URL may be a mail address, such as mailto:jane@example.org
	Image       *Image       `json:"image"`
	Explanation *Explanation `json:"explanation"`
}

// Section is a part of a page with an address of its own.
type Section struct {
	Heading string `json:"heading"`
	URL     string `json:"url"`
}

// Marks says where the words of the query are in the title and the snippet. Each element is a pair of
// offsets in characters (Go's runes): of the first character of a match, and of the first character behind
// it.
type Marks struct {
	Title   [][2]int `json:"title"`
	Snippet [][2]int `json:"snippet"`
}

// Image is an image that was found.
type Image struct {
	URL     string   `json:"url"`
	Alt     string   `json:"alt"` // alternative text
	Caption string   `json:"caption"`
	Stored  bool     `json:"stored"`
	Copy    string   `json:"copy"`    // path of the stored copy on the server; "" if there is none
	AlsoOn  []string `json:"also_on"` // addresses of other matching pages that show the image
}

// Count is a value of a facet, such as the language de, and the number of matching pages that have it.
type Count struct {
	Value    string `json:"value"`
	Pages    int    `json:"pages"`
	Estimate bool   `json:"estimate"` // whether Pages is an estimate from a sample
}

// Translation says how the words of a query were translated.
type Translation struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Words []struct {
		Word string   `json:"word"`
		As   []string `json:"as"` // the most probable first; empty if the word was searched as it is
	} `json:"words"`
}

// Cost is what an answer cost.
type Cost struct {
	Requests       int64   `json:"requests"` // requests to the object store
	Bytes          int64   `json:"bytes"`
	DependentSteps int64   `json:"dependent_steps"` // number of requests that waited for one another
	CacheHits      int64   `json:"cache_hits"`
	USD            float64 `json:"usd"`
}

// Explanation is a score together with the scores of which it is the sum.
type Explanation struct {
	What  string        `json:"what"`
	Value float64       `json:"value"`
	Parts []Explanation `json:"parts"`
}

// Page is the main part of a page.
type Page struct {
	URL         string    `json:"url"`
	Title       string    `json:"title"`     // title without the name of the site
	Site        string    `json:"site_name"` // name of the site
	Description string    `json:"description"`
	Author      string    `json:"author"`
	Published   string    `json:"published"` // date or time (RFC 3339)
	Modified    string    `json:"modified"`  // date or time (RFC 3339)
	Fetched     time.Time `json:"fetched"`
	Lang        string    `json:"lang"`
	LangSource  string    `json:"lang_source"`
	Charset     string    `json:"charset"`
	Canonical   string    `json:"canonical"`
	Type        string    `json:"type"` // type in the page's JSON-LD, such as Article
	Kind        string    `json:"kind"` // likeliest kind of page, such as documentation
	Date        string    `json:"date"` // the page's own date, such as 2026-01-31; "" if it is not known
	Parts       []Part    `json:"parts"`
}

// Part is a heading, paragraph, item of a list, piece of code, table or image of a page.
type Part struct {
	Kind     string     `json:"kind"`
	Level    int        `json:"level"`    // level of a heading, 1 to 6
	List     int        `json:"list"`     // number of nested lists that the part is in
	Ordinal  int        `json:"ordinal"`  // number of an item in a numbered list
	Quote    int        `json:"quote"`    // number of nested quotes that the part is in
	Text     string     `json:"text"`     // plain text of the part; alternative text of an image
	Language string     `json:"language"` // programming language of code
	Rows     [][]string `json:"rows"`     // cells of a table, by row
	Address  string     `json:"address"`  // URL of an image
	Caption  string     `json:"caption"`  // caption of an image
	Fragment string     `json:"fragment"` // fragment of an address that leads to a heading, such as use in https://example.org/#use
	Links    []Link     `json:"links"`
}

// Link is a link in a text.
type Link struct {
	Address string `json:"address"`
	Text    string `json:"text"`
}
