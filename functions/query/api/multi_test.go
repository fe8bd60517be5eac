package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/api"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

// TestMulti checks that several searches are answered in their order, each as by /v1/search, and
// that one that fails does not disturb the others.
func TestMulti(t *testing.T) {
	_, h := newStore(t, append(querytest.Manual(3), harbour)...)
	w := post(h, "/v1/multi", `{"searches": [
		{"q": "manual", "n": 2, "facet": ["site", "lang"]}, {"q": "hafen", "form": 1}, {"q": "hafen", "highlight": "html"}, {"n": {}}, {"q": "manual", "format": "rss"}
	]}`)
	all := decode[api.Answers](t, w, "/v1/multi", http.StatusOK).Answers
	if len(all) != 5 {
		t.Fatalf("%d answers", len(all))
	}
	for i, target := range map[int]string{0: "/v1/search?q=manual&n=2&facet=site&facet=lang", 2: "/v1/search?q=hafen&highlight=html"} {
		want := get[api.Answer](t, h, target, http.StatusOK)
		if all[i].Answer == nil || all[i].Problem != nil {
			t.Fatalf("search %d: %+v", i, all[i].Problem)
		}
		if diff := cmp.Diff(want, *all[i].Answer); diff != "" {
			t.Errorf("search %d (-alone +with others):\n%s", i, diff)
		}
	}
	for i, want := range map[int]string{1: "did you mean from?", 3: "n is {}; write a text", 4: "leave format out"} {
		if p := all[i].Problem; p == nil || p.Status != http.StatusBadRequest || !strings.Contains(p.Detail, want) {
			t.Errorf("search %d: %+v, want %q", i, p, want)
		}
	}
}

func TestWrongMulti(t *testing.T) {
	_, h := newStore(t)
	for body, want := range map[string]string{
		"":                      "it is empty",
		"{":                     "ends too early",
		`{"queries": []}`:       `no field "queries"`,
		`{"searches": {}}`:      "searches is an object; write a list",
		`{"searches": []}`:      "has 0 searches; send 1 to 10",
		`{"searches": [{}]} {}`: "more after the document",
		`{"searches": [` + strings.Repeat("{},", 10) + `{}]}`: "has 11 searches; send 1 to 10",
	} {
		p := decode[api.Problem](t, post(h, "/v1/multi", body), body, http.StatusBadRequest)
		if !strings.Contains(p.Detail, want) {
			t.Errorf("%s: %q, want %q", body, p.Detail, want)
		}
	}
	long := `{"searches": [{"q": "` + strings.Repeat("a", 1<<16) + `"}]}`
	decode[api.Problem](t, post(h, "/v1/multi", long), "a long body", http.StatusRequestEntityTooLarge)
	decode[api.Problem](t, post(h, "/v1/multi?q=a", `{"searches": [{"q": "a"}]}`), "a parameter", http.StatusBadRequest)
}
