package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/api"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

func TestSuggest(t *testing.T) {
	_, h := newStore(t, harbour,
		querytest.Page{URL: "https://example.org/1", MIME: "text/html", Data: "1", Title: "Index one", Body: "text", Lang: "en"},
		querytest.Page{URL: "https://example.com/2", MIME: "text/html", Data: "2", Title: "Indexes", Body: "text", Lang: "en"},
	)
	want := api.Suggestions{Text: "ind", Suggestions: []api.Suggestion{{"Index one", "https://example.org/1", 1}}}
	for _, path := range []string{"/v1/suggest", api.Suggest} {
		if diff := cmp.Diff(want, get[api.Suggestions](t, h, path+"?q=ind&n=1&site=example.org", http.StatusOK)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if none := get[api.Suggestions](t, h, "/v1/suggest?q=", http.StatusOK); none.Suggestions == nil || len(none.Suggestions) > 0 {
		t.Errorf("to nothing: %+v", none)
	}
	w := querytest.Ask(h, "GET", "/v1/suggest?q=ind&site=example.org&format=opensearch")
	var got []any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Header().Get("Content-Type") != "application/x-suggestions+json" {
		t.Fatalf("%v in %s", err, w.Body)
	}
	if diff := cmp.Diff([]any{"ind", []any{"Index one"}, []any{""}, []any{"https://example.org/1"}}, got); diff != "" {
		t.Errorf("for browsers (-want +got):\n%s", diff)
	}
}
