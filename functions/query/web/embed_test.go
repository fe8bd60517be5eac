package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/query/web/messages"
)

// TestBoxForOtherSites checks the script of the search box for other sites: it is small in every language,
// it has the texts in the language of the parameter or of the reader, and its headers allow pages of all
// sites to load and to keep it.
func TestBoxForOtherSites(t *testing.T) {
	h := newLibrary(t)
	for _, language := range messages.Languages {
		w := querytest.Ask(h, "GET", "/search.js?language="+language, "Accept-Language: sv")
		if size := w.Body.Len(); size > 15_000 {
			t.Errorf("%s: the script has %d bytes, more than 15 KB", language, size)
		}
		if want := `"language":"` + language + `"`; !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: the script has no %s", language, want)
		}
	}
	w := querytest.Ask(h, "GET", "/search.js", "Accept-Language: sv, de;q=0.8, en;q=0.5")
	if body := w.Body.String(); !strings.Contains(body, `"found":{"one":"{n} Seite","other":"{n} Seiten"}`) || !strings.Contains(body, `"search":"Suchen"`) {
		t.Errorf("not in German:\n%s", body)
	}
	header := w.Header()
	got := map[string]string{}
	for _, name := range []string{"Content-Type", "Access-Control-Allow-Origin", "Cross-Origin-Resource-Policy", "Cache-Control", "Vary"} {
		got[name] = header.Get(name)
	}
	want := map[string]string{
		"Content-Type": "text/javascript; charset=utf-8", "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin",
		"Cache-Control": "public, max-age=3600", "Vary": "Accept, Accept-Language",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if w := querytest.Ask(h, "GET", "/search.js", "Accept-Language: de", "If-None-Match: "+header.Get("ETag")); w.Code != http.StatusNotModified {
		t.Errorf("the script that a browser has is sent again: %d", w.Code)
	}
	if w := querytest.Ask(h, "GET", "/search.js", "Accept-Language: fr", "If-None-Match: "+header.Get("ETag")); w.Code != http.StatusOK {
		t.Errorf("the script in another language is not sent: %d", w.Code)
	}
}
