// Package structured turns the main part of a page into a list of parts: headings, paragraphs,
// items of lists, tables, code, quotes and images, with links and emphasis. It writes them as
// Markdown, plain text or JSON.
//
//	<h2>Use</h2><ul><li>Run <code>go <b>run</b></code></ul>
//
//	Parts     heading "Use" of level 2; item "Run go run"
//	Markdown  ## Use
//
//	          - Run `go run`
package structured

import "time"

// Page is the main part of a page as a list of parts, with the page's metadata.
type Page struct {
	URL         string    `json:"url"`
	Title       string    `json:"title"`               // title without the name of the site
	Site        string    `json:"site_name,omitempty"` // name of the site, from the page's metadata
	Description string    `json:"description,omitempty"`
	Author      string    `json:"author,omitempty"`
	Published   string    `json:"published,omitempty"` // time of publication: a date or RFC 3339 time
	Modified    string    `json:"modified,omitempty"`
	Date        string    `json:"date,omitempty"` // the page's own date, such as 2026-01-31 (see document.Document.Date); "" if it is not known
	Fetched     time.Time `json:"fetched,omitzero"`
	Lang        string    `json:"lang,omitempty"`        // primary subtag of the language (RFC 5646)
	LangSource  string    `json:"lang_source,omitempty"` // how Lang was found: declared, guessed or overruled (see language.Source)
	Charset     string    `json:"charset,omitempty"`     // WHATWG name of the page's charset; "" for a document such as a PDF
	Canonical   string    `json:"canonical,omitempty"`
	Type        string    `json:"type,omitempty"` // @type of the page's JSON-LD: Article, Product, …
	PageKind    string    `json:"kind,omitempty"` // likeliest kind of page: article, collection, documentation, forum, listing, product or service
	Parts       []Part    `json:"parts"`
}

// Kind is the kind of a part of a page: heading, paragraph, item, …
type Kind string

// The kinds of parts.
const (
	Heading    Kind = "heading"
	Paragraph  Kind = "paragraph"
	Item       Kind = "item" // item of a list
	Term       Kind = "term" // term in a list of definitions
	Definition Kind = "definition"
	Code       Kind = "code"
	Table      Kind = "table"
	Image      Kind = "image"
)

// Part is a part of a page, such as a paragraph. Fields that do not apply to its Kind are empty: only
// a heading, for example, has a Level.
type Part struct {
	Kind     Kind       `json:"kind"`
	Level    int        `json:"level,omitempty"`    // level of a heading, 1 to 6
	Fragment string     `json:"fragment,omitempty"` // fragment by which an address leads to a heading, such as use in http://a/#use
	List     int        `json:"list,omitempty"`     // number of nested lists that the part is in
	Ordinal  int        `json:"ordinal,omitempty"`  // number of an item in a numbered list, from 1; 0: no number
	Quote    int        `json:"quote,omitempty"`    // number of nested quotes that the part is in
	Text     string     `json:"text,omitempty"`     // plain text of the part; alternative text of an image
	Language string     `json:"language,omitempty"` // programming language of code, as the page names it: go, c++
	Rows     [][]string `json:"rows,omitempty"`     // texts of the cells of a table, by row
	Address  string     `json:"address,omitempty"`  // URL of an image
	Caption  string     `json:"caption,omitempty"`  // caption of an image
	Links    []Link     `json:"links,omitempty"`    // links in Text, in the order of Text

	marked string     // text of the part, in Markdown
	cells  [][]string // texts of the cells in Rows, as Markdown
}

// Link is a link in a text.
type Link struct {
	Address string `json:"address"`
	Text    string `json:"text"`
}

// Plain returns a paragraph with a text that has no markup.
func Plain(text string) Part {
	w := inline{text: []byte(text)}
	w.escape(w.text)
	return Part{Kind: Paragraph, Text: text, marked: w.out.String()}
}
