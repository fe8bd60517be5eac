// Package structured gives the main part of a page its structure back: headings,
// paragraphs, lists, tables, code, quotes and images, with links and emphasis. A page
// can then be written as Markdown, plain text or JSON.
//
//	<h2>Use</h2><ul><li>Run <code>go <b>run</b></code></ul>
//
//	Parts     heading "Use" of level 2; item "Run go run"
//	Markdown  ## Use
//
//	          - Run `go run`
package structured

import "time"

// Page is a page with its structure.
type Page struct {
	URL         string    `json:"url"`
	Title       string    `json:"title"`               // without the name of the site
	Site        string    `json:"site_name,omitempty"` // as the page tells it
	Description string    `json:"description,omitempty"`
	Author      string    `json:"author,omitempty"`
	Published   string    `json:"published,omitempty"` // as the page tells it: a date, or an RFC 3339 time
	Modified    string    `json:"modified,omitempty"`
	Fetched     time.Time `json:"fetched,omitzero"`
	Lang        string    `json:"lang,omitempty"`    // primary subtag (RFC 5646)
	Charset     string    `json:"charset,omitempty"` // WHATWG name of that in which it was read; "" for a document such as a PDF
	Canonical   string    `json:"canonical,omitempty"`
	Type        string    `json:"type,omitempty"` // of its JSON-LD: Article, Product, …
	PageKind    string    `json:"kind,omitempty"` // likeliest: article, collection, documentation, forum, listing, product or service
	Parts       []Part    `json:"parts"`
}

// Kind is the kind of a part.
type Kind string

// The kinds of parts.
const (
	Heading    Kind = "heading"
	Paragraph  Kind = "paragraph"
	Item       Kind = "item" // of a list
	Term       Kind = "term" // of a list of definitions
	Definition Kind = "definition"
	Code       Kind = "code"
	Table      Kind = "table"
	Image      Kind = "image"
)

// Part is a part of a page.
type Part struct {
	Kind     Kind       `json:"kind"`
	Level    int        `json:"level,omitempty"`    // of a heading, 1 to 6
	List     int        `json:"list,omitempty"`     // lists around it
	Ordinal  int        `json:"ordinal,omitempty"`  // of an item of a numbered list, from 1 on
	Quote    int        `json:"quote,omitempty"`    // quotes around it
	Text     string     `json:"text,omitempty"`     // plain; of an image its alternative text
	Language string     `json:"language,omitempty"` // of code, as the page names it: go, c++
	Rows     [][]string `json:"rows,omitempty"`     // of a table: the texts of its cells
	Address  string     `json:"address,omitempty"`  // of an image
	Caption  string     `json:"caption,omitempty"`  // of an image
	Links    []Link     `json:"links,omitempty"`    // in its text, in order

	marked string     // its text in Markdown
	cells  [][]string // its rows in Markdown
}

// Link is a link in a text.
type Link struct {
	Address string `json:"address"`
	Text    string `json:"text"`
}

// Plain returns a paragraph of a text without markup.
func Plain(text string) Part {
	w := inline{text: []byte(text)}
	w.escape(w.text)
	return Part{Kind: Paragraph, Text: text, marked: w.out.String()}
}
