package query

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

func (s *siteHandler) search(w http.ResponseWriter, r *http.Request) error {
	q, err := readQuery(r, s.engine.Now())
	if err != nil {
		return err
	}
	q.Spread = q.Spread || !wantsJSON(r)
	if q.Text == "" {
		if wantsJSON(r) {
			return wrong("The query is missing; ask like /search?q=words.")
		}
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	}
	found, err := s.engine.Search(r.Context(), q)
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, found.Answer())
	}
	if found.Images {
		w.Header().Set("Content-Security-Policy", imagesPolicy)
	}
	page := newResultsPage(q, found)
	if err := s.offerMarks(w, r, q, &page); err != nil {
		return err
	}
	s.offerPings(w, q, &page)
	return render(w, http.StatusOK, "results", page)
}

func writeJSON(w http.ResponseWriter, status int, value any) error {
	content, err := reply.Marshal(value, false)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(content) // fails when the client has gone
	return nil
}

// Answer is the answer to a search as it is written in JSON.
type Answer struct {
	Total int `json:"total"` // number of matching pages (or images) found; there may be more, see TotalExact
	// whether Total is the number of all matches; if not, there may be more
	TotalExact bool    `json:"total_exact"`
	TookMillis float64 `json:"took_ms"`
	// whether pages are missing because a part of the index is lost
	Incomplete bool `json:"incomplete,omitempty"`
	// whether the search ended before it had read everything, because its time was up
	Partial    bool                `json:"partial,omitempty"`
	Notes      []string            `json:"notes,omitempty"` // sentences for the reader about what was cut, left out or damaged
	Results    []Snippet           `json:"results"`
	Facets     map[string][]Bucket `json:"facets,omitempty"`
	Translated []Translation       `json:"translated,omitempty"` // how the query was translated, for a request with the parameter across
	Cost       *meter.Cost         `json:"cost,omitempty"`
}

// Snippet is one result of an Answer: a page or, with type:image, an image together with a page
// that shows it. The excerpt for an image is from its caption or, if it has none, from the words
// around it.
type Snippet struct {
	Image       *Picture  `json:"image,omitempty"`
	URL         string    `json:"url"`
	Title       string    `json:"title"`
	Snippet     string    `json:"snippet"`
	Score       float64   `json:"score"`
	Lang        string    `json:"lang"`
	LangSource  string    `json:"lang_source,omitempty"` // how Lang is known: declared, guessed, or overruled (by the text); only with explain=score
	Type        string    `json:"type"`
	Collections []string  `json:"collections,omitempty"`
	Fetched     time.Time `json:"fetched,omitzero"`
	// addresses of matching pages that are not shown because their text is the same, or nearly the
	// same
	Alike []string `json:"alike,omitempty"`
	// number of further matches of the same site that were moved behind the first ten results, to
	// make room for other sites; only with fold=site
	MoreOfSite int    `json:"more_of_site,omitempty"`
	Across     string `json:"across,omitempty"` // language into which the query was translated to find the page; only with across=
	// whether no page is stored for the address: then only links to it were found, and snippet
	// shows their texts
	Unvisited   bool                `json:"unvisited,omitempty"`
	Explanation *search.Explanation `json:"explanation,omitempty"`
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
		Notes:      r.notes(),
		Results:    make([]Snippet, 0, len(r.Hits)),
		Translated: r.Translations(),
		Cost:       r.Cost,
	}
	for _, hit := range r.Hits {
		answer.Results = append(answer.Results, Snippet{
			Image: r.picture(hit), URL: hit.URL, Title: hit.Title, Snippet: plain(hit.Snippet), Score: hit.Score, Lang: hit.Lang, LangSource: hit.LangSource, Type: hit.MIME,
			Collections: hit.Collections, Fetched: hit.Fetched, Alike: hit.Alike, MoreOfSite: hit.MoreOfSite, Unvisited: hit.Unvisited, Across: hit.Across,
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

// notes returns the notes of the search, which are sentences for the reader. If parts of the
// index are lost or damaged, the first note says so.
func (r Result) notes() []string {
	if r.Lost == nil {
		return r.Notes
	}
	return append([]string{r.Lost.Error()}, r.Notes...)
}

func plain(fragments []search.Fragment) string {
	var b strings.Builder
	for _, f := range fragments {
		b.WriteString(f.Text)
	}
	return b.String()
}

//go:embed web
var web embed.FS

var (
	pages = template.Must(template.New("").Funcs(template.FuncMap{
		"count":     count,
		"duration":  duration,
		"styleHash": func() string { return styleHash },
	}).ParseFS(web, "web/*.html"))

	styleSheet = must(web.ReadFile("web/style.css"))
	styleHash  = fmt.Sprintf("%x", sha256.Sum256(styleSheet))[:12]
)

func must(content []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return content
}

// render answers a request with the HTML page that the named template makes of data. If the
// template fails, it writes nothing and returns the error.
func render(w http.ResponseWriter, status int, name string, data any) error {
	var page bytes.Buffer
	if err := pages.ExecuteTemplate(&page, name, data); err != nil {
		return fmt.Errorf("cannot render %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // fails when the client has gone
	return nil
}

func (s *siteHandler) style(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(styleSheet))
	return nil
}

// count formats a number with commas: 12,345.
func count(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func duration(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
