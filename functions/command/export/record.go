package export

import (
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/text/language"
)

// Record is a page as a line of jsonl. Its text is that of the main part; a page that
// cannot be read, such as an image, has none.
type Record struct {
	URL         string    `json:"url"`
	Fetched     time.Time `json:"fetched"`
	Status      int       `json:"status"`
	MIME        string    `json:"mime"`
	Lang        string    `json:"lang,omitempty"` // ISO 639-1, found as index finds it
	Title       string    `json:"title,omitempty"`
	Site        string    `json:"site_name,omitempty"`
	Description string    `json:"description,omitempty"`
	Author      string    `json:"author,omitempty"`
	Published   string    `json:"published,omitempty"`
	Modified    string    `json:"modified,omitempty"`
	Type        string    `json:"type,omitempty"` // of its JSON-LD
	Collections []string  `json:"collections,omitempty"`
	Text        string    `json:"text,omitempty"`

	structure structured.Page
	object    webobject.Object
}

// recordOf returns the record of a stored page, without what its text tells.
func recordOf(o webobject.Object) Record {
	return Record{URL: o.URL, Fetched: o.Downloaded.UTC(), Status: int(o.Status), MIME: o.MIME, Collections: o.Collections, object: o}
}

// read adds what the text tells, if there is one.
func (r *Record) read() {
	p, err := document.Structure(r.object)
	if err != nil {
		return // it was stored without its text, too
	}
	r.Title, r.Site, r.Description, r.Type = p.Title, p.Site, p.Description, p.Type
	r.Author, r.Published, r.Modified, r.Text = p.Author, p.Published, p.Modified, p.Text()
	r.Lang, _ = language.Identify(p.Title+"\n"+r.Text, p.Lang)
	r.structure = p
}
