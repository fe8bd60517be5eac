package export

import (
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// Record is a page as a line of the format jsonl. Text is the text of the page's main part; it is
// empty for a page without text, such as an image.
type Record struct {
	URL     string    `json:"url"`
	Fetched time.Time `json:"fetched"`
	Status  int       `json:"status"`
	MIME    string    `json:"mime"`
	// language of the page (ISO 639-1), found by the same rules as in the index
	Lang        string   `json:"lang,omitempty"`
	LangSource  string   `json:"lang_source,omitempty"` // how the language is known: declared, guessed or overruled
	Title       string   `json:"title,omitempty"`
	Site        string   `json:"site_name,omitempty"`
	Description string   `json:"description,omitempty"`
	Author      string   `json:"author,omitempty"`
	Published   string   `json:"published,omitempty"`
	Modified    string   `json:"modified,omitempty"`
	Type        string   `json:"type,omitempty"` // @type of the page's JSON-LD, such as "NewsArticle"
	Kind        string   `json:"kind,omitempty"` // kind of page, such as "article" or "product" (see package mainpart)
	Collections []string `json:"collections,omitempty"`
	Text        string   `json:"text,omitempty"`

	structure structured.Page
	object    webobject.Object
}

// recordOf returns the record of a stored page. The fields that need the page parsed are still
// empty: Record.read fills them.
func recordOf(o webobject.Object) Record {
	return Record{URL: o.URL, Fetched: o.Downloaded.UTC(), Status: int(o.Status), MIME: o.MIME, Collections: o.Collections, object: o}
}

// read parses the page and fills the fields from Lang to Kind, and Text. It leaves them empty if
// the page cannot be parsed.
func (r *Record) read() {
	p, err := document.Structure(r.object)
	if err != nil {
		return // the index has no text of it, either
	}
	r.Title, r.Site, r.Description, r.Type, r.Kind = p.Title, p.Site, p.Description, p.Type, p.PageKind
	r.Author, r.Published, r.Modified, r.Text = p.Author, p.Published, p.Modified, p.Text()
	r.Lang, r.LangSource = p.Lang, p.LangSource
	r.structure = p
}
