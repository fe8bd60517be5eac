package export

import (
	"bytes"
	"encoding/xml"
	"time"
)

// documentType is the DTD of the format xml. It has the elements of section 4.4 of the thesis of
// 2011, on a crawler for news.
const documentType = `<!DOCTYPE pages [
<!ELEMENT pages (page*)>
<!ELEMENT page (url, time, encoding?, language?, headline?, content?)>
<!ELEMENT url (#PCDATA)>
<!ELEMENT time (#PCDATA)> <!-- of the download, RFC 3339 -->
<!ELEMENT encoding (#PCDATA)> <!-- of the stored page -->
<!ELEMENT language (#PCDATA)> <!-- primary subtag, RFC 5646 -->
<!ELEMENT headline (#PCDATA)>
<!ELEMENT content (#PCDATA)>
]>
`

func beginXML(time.Time) ([]byte, error) {
	return []byte(xml.Header + documentType + "<pages>\n"), nil
}

func pageXML(r *Record) ([]byte, error) {
	page := struct {
		XMLName  xml.Name `xml:"page"`
		URL      string   `xml:"url"`
		Time     string   `xml:"time"`
		Encoding string   `xml:"encoding,omitempty"`
		Language string   `xml:"language,omitempty"`
		Headline string   `xml:"headline,omitempty"`
		Content  string   `xml:"content,omitempty"`
	}{URL: r.URL, Time: r.Fetched.Format(time.RFC3339), Encoding: r.structure.Charset, Language: r.Lang, Headline: r.Title, Content: r.Text}
	b, err := xml.MarshalIndent(page, "", " ")
	b = bytes.ReplaceAll(b, []byte("&#xA;"), []byte("\n")) // means the same, and people can read it
	return append(b, '\n'), err
}
