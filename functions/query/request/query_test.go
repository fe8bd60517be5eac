package request

import (
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLanguagesOf(t *testing.T) {
	for field, want := range map[string][]string{
		"": nil, "*": nil, "de": {"de"}, "de-AT, de;q=0.9,en-US; q=0.95, fr;q=0, *;q=0.1": {"de", "en"}, "x;q=nonsense,,;": nil,
	} {
		if diff := cmp.Diff(want, languagesOf([]string{field})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", field, diff)
		}
	}
}

func TestWantsJSON(t *testing.T) {
	for accept, want := range map[string]bool{
		"":                                  false,
		"*/*":                               false,
		"application/json":                  true,
		"Application/JSON; charset=utf-8":   true,
		"application/json, text/plain, */*": true,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": false,
		"text/html;q=0.5, application/json":                               true,
		"text/html, application/json;q=0.5":                               false,
		"application/json;q=0":                                            false,
		"application/json;q=x":                                            true,
		",;,/,application/json":                                           true,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", accept)
		if got := WantsJSON(r); got != want {
			t.Errorf("Accept: %s: %v", accept, got)
		}
	}
}
