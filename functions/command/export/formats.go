package export

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// fileFormat is a format of a single file: what stands before, of and behind its pages.
type fileFormat struct {
	begin func(at time.Time) ([]byte, error)
	page  func(r *Record) ([]byte, error)
	end   string
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
	Webo     = "webo"     // and a description beside the file
	Markdown = "markdown" // which is a folder
	Mirror   = "mirror"   // another
)

// formatOf returns the format of a name, which is not that of a folder.
func formatOf(name string) (fileFormat, error) {
	f, found := formats[name]
	if !found {
		return f, literal.Wrong("format", name, "jsonl, xml, markdown, warc, wacz, webo or mirror")
	}
	return f, nil
}

func nothing(time.Time) ([]byte, error) { return nil, nil }

func jsonLine(r *Record) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return b.Bytes(), err
}
