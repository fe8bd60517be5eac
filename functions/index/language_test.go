package index

import (
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// TestLanguages checks the languages of documents. A page has the language that it declares in its
// markup or header, unless its text proves that wrong. The document must also say whether its
// language was declared, guessed from the text, or overruled by the text.
func TestLanguages(t *testing.T) {
	const (
		english = "The museum is closed on Mondays and public holidays. "
		nepali  = "संग्रहालय सोमबार बन्द हुन्छ। "
	)
	for name, c := range map[string]struct {
		attribute, header, text string
		want                    string // language, source
	}{
		"declared":                     {"ne", "", nepali, "ne declared"},
		"declared, short":              {"de", "", "Museum", "de declared"},
		"declared by the header":       {"", "de-AT", "Museum", "de declared"},
		"markup before header":         {"de", "en", "Museum", "de declared"},
		"readers of several languages": {"", "de, en", english, "en guessed"},
		"not declared":                 {"", "", english, "en guessed"},
		"in doubt":                     {"", "", "Serret eo ar mirdi d'al Lun, met digor eo en deizioù all.", " "},
		"proven false":                 {"de", "", strings.Repeat(english, 12), "en overruled"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			page := functionstest.Page(batch, "http://a.example/")
			page.MIME, page.Data = "text/html; charset=utf-8", []byte(`<html lang="`+c.attribute+`"><body><p>`+c.text+`</p></body></html>`)
			if c.header != "" {
				page.Header = append(page.Header, webobject.Field{Name: "Content-Language", Value: c.header})
			}
			pkg := w.put(1, page)
			w.list(pkg)
			w.run(pkg.Key)
			built := w.segment(w.manifest().Segments[0])
			languages, err := built.Strings(t.Context(), segment.Languages)
			if err != nil {
				t.Fatal(err)
			}
			sources, err := built.Strings(t.Context(), segment.LanguageSources)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(append(languages.Get(0), sources.Get(0)...), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
