package export

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// fileFormat describes a format that writes all pages into one file: which bytes stand at the
// beginning of the file, for each page, and at the end.
type fileFormat struct {
	begin func(at time.Time) ([]byte, error) // function that returns the bytes before the first page; at is the moment of the export
	page  func(r *Record) ([]byte, error)    // function that returns the bytes of a page
	end   string                             // bytes after the last page
}

var formats = map[string]fileFormat{
	"jsonl": {begin: nothing, page: jsonLine},
	"xml":   {begin: beginXML, page: pageXML, end: "</pages>\n"},
	WARC:    {begin: warcInfo, page: warcResponse},
	WACZ:    {begin: beginWACZ, page: warcResponse},
	Webo:    {begin: beginWebop, page: webObject},
}

// Names of formats.
const (
	WARC     = "warc"
	WACZ     = "wacz"
	Webo     = "webo"     // one .webop file, with its description in a second file
	Markdown = "markdown" // a folder with a Markdown file for each page
	Mirror   = "mirror"   // a folder with links rewritten, to be read in a browser
)

// formatOf returns the single-file format with the given name. It fails for an unknown name, and
// for Markdown and Mirror, which are folders.
func formatOf(name string) (fileFormat, error) {
	f, found := formats[name]
	if !found {
		return f, literal.Wrong("format", name, "jsonl, xml, markdown, warc, wacz, webo or mirror")
	}
	return f, nil
}

// nothing is the function fileFormat.begin for formats that have no bytes before the first page.
func nothing(time.Time) ([]byte, error) { return nil, nil }

func jsonLine(r *Record) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return b.Bytes(), err
}
