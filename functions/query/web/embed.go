package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/query/web/messages"
	"github.com/bucketsearch/bucketsearch/layout"
)

// embedded is the script that puts a search box into pages of other sites, in one language.
type embedded struct {
	content []byte
	etag    string
}

// boxTexts are the keys of the messages of the box.
var boxTexts = []string{"search", "found", "did you mean", "all results", "nothing found", "unavailable", "try again"}

// boxes has for each language of the interface a function that returns the script of the search box for
// other sites. The script is made when the language is first asked for. It calls a function whose body is
// search.js, with the texts of the box as its argument:
//
//	(function (texts) {…})({"language":"en","direction":"ltr","search":"Search","found":{"one":"{n} page","other":"{n} pages"},…});
var boxes = func() map[string]func() embedded {
	all := make(map[string]func() embedded)
	for _, name := range messages.Languages {
		all[name] = sync.OnceValue(func() embedded {
			c := messages.For([]string{name})
			texts, err := c.Texts(boxTexts...)
			if err != nil {
				panic(err)
			}
			texts["language"], texts["direction"] = c.Language, c.Direction
			literal, err := json.Marshal(texts)
			if err != nil {
				panic(err)
			}
			content := fmt.Appendf(nil, "(function (texts) {\n%s})(%s);\n", file("search.js"), literal)
			return embedded{content, `"` + layout.ContentHash(content) + `"`}
		})
	}
	return all
}()

// embed answers with the script of the search box for other sites. Its language is the parameter language,
// or else the language of the reader. Its headers allow pages of all sites to load it, even pages that load
// only what allows them to by CORS or CORP (https://fetch.spec.whatwg.org/). The address of the script never
// changes. So browsers may keep it for an hour only, and then ask for a newer one.
func (s *siteHandler) embed(w http.ResponseWriter, r *http.Request) error {
	languages := request.Languages(r)
	if language := r.URL.Query().Get("language"); language != "" {
		languages = []string{language}
	}
	script := boxes[messages.For(languages).Language]()
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Cache-Control", "public, max-age=3600")
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("ETag", script.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(script.content))
	return nil
}
