package document

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// primary returns the primary subtag of a language tag (RFC 5646) in lower case: "pt" for "pt-BR".
// It returns "" if the primary subtag does not have two or three letters.
func primary(tag string) string {
	tag = strings.TrimSpace(tag)
	if i := strings.IndexAny(tag, "-_,; "); i >= 0 {
		tag = tag[:i]
	}
	if len(tag) < 2 || len(tag) > 3 {
		return ""
	}
	tag = strings.ToLower(tag)
	for i := range len(tag) {
		if tag[i] < 'a' || tag[i] > 'z' {
			return ""
		}
	}
	return tag
}

// setLang sets the language of a page whose markup declares none, from the header
// Content-Language (WHATWG HTML, 3.2.6.2). A header with several languages is ignored: it names the
// languages of the readers, not that of the page.
func (d *Document) setLang(o *webobject.Object) {
	if d.Lang != "" {
		return
	}
	for _, field := range o.Header {
		if strings.EqualFold(field.Name, "Content-Language") && !strings.Contains(field.Value, ",") {
			set(&d.Lang, primary(field.Value))
		}
	}
}
