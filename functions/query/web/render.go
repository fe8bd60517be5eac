package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/query/web/messages"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

//go:embed *.html style.css pages.js search.js
var files embed.FS

// templates has the templates of the pages for each language of the interface.
type templates map[string]func() *template.Template

// newTemplates returns the templates of a site, by language of the interface. The templates of a language
// are parsed when it is first asked for. They can call these functions, whose results depend on the language
// or the site:
//
//	say        message; the arguments are its key, then names and values of its placeholders in turn
//	language   language of the interface, as a primary subtag such as de
//	direction  direction in which the language is written, ltr or rtl
//	count, date, duration   a number, a day or a short time, as the language writes them
//	label      value of a filter as people read it: label "lang" "de" is German
//	brand      the Brand of the site
//	style      address of the style sheet
//	script     address of the script
func newTemplates(brand *Brand, style, script string) templates {
	all := make(templates)
	for _, name := range messages.Languages {
		all[name] = sync.OnceValue(func() *template.Template {
			c := messages.For([]string{name})
			return template.Must(template.New("").Funcs(template.FuncMap{
				"say": c.Say, "count": c.Count, "date": c.Date, "duration": c.Duration,
				"language": func() string { return c.Language }, "direction": func() string { return c.Direction },
				"label": func(filter, value string) string { return label(c, filter, value) },
				"brand": func() *Brand { return brand }, "style": func() string { return style }, "script": func() string { return script },
			}).ParseFS(files, "*.html"))
		})
	}
	return all
}

// label returns the value of a filter as people read it.
func label(c *messages.Catalogue, filter, value string) string {
	switch filter {
	case search.Lang:
		return c.Name(value)
	case search.Type:
		_, kind, _ := strings.Cut(value, "/")
		if short, found := typeNames[kind]; found {
			return short
		}
		return value
	}
	return value
}

// typeNames are the names by which people know media types. The key is the part of the media type after the
// slash.
var typeNames = map[string]string{
	"html": "HTML", "xhtml+xml": "XHTML", "pdf": "PDF", "plain": "TXT", "rtf": "RTF", "epub+zip": "EPUB",
	"atom+xml": "Atom", "rss+xml": "RSS", "xml": "XML", "json": "JSON", "markdown": "Markdown", "csv": "CSV",
	"msword": "Word", "vnd.openxmlformats-officedocument.wordprocessingml.document": "Word", "vnd.oasis.opendocument.text": "ODT",
	"vnd.ms-excel": "Excel", "vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel", "vnd.oasis.opendocument.spreadsheet": "ODS",
	"vnd.ms-powerpoint": "PowerPoint", "vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint", "vnd.oasis.opendocument.presentation": "ODP",
}

// render answers a request with the HTML page that the named template makes of data, in the first of
// the reader's languages that has messages. If the template fails, it writes nothing and returns the
// error.
func (s *siteHandler) render(w http.ResponseWriter, r *http.Request, status int, name string, data any) error {
	language := messages.For(request.Languages(r)).Language
	var page bytes.Buffer
	if err := s.templates[language]().ExecuteTemplate(&page, name, data); err != nil {
		return fmt.Errorf("cannot render %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // fails when the client has gone
	return nil
}

// asset is a file of the site. Its address contains a hash of its content, so browsers may keep the file for
// ever.
type asset struct {
	address, media string
	content        []byte
}

// newAsset returns the asset at a path, to whose address a hash of the content is added.
func newAsset(path, media string, content []byte) asset {
	return asset{fmt.Sprintf("%s?%x", path, sha256.Sum256(content))[:len(path)+13], media, content}
}

// file returns the content of an embedded file.
func file(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return content
}

func (a asset) serve(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", a.media)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.content))
	return nil
}
