package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzSearches checks that any body of a request to /v1/multi is refused, or read as 1 to 10 searches. It
// also checks that the parameters of a search do not change when they are written as JSON and read again.
func FuzzSearches(f *testing.F) {
	f.Add(`{"searches": [{"q": "vacuum", "n": 3}, {"q": "index", "site": ["example.org", "example.com"]}]}`)
	f.Add(`{"searches": [{"q": null, "n": [[1]], "from": 1e400, "a": true}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		searches, err := readSearches(strings.NewReader(body))
		if err != nil {
			return
		}
		if len(searches) == 0 || len(searches) > maxSearches {
			t.Fatalf("%d searches", len(searches))
		}
		for _, fields := range searches {
			values, err := valuesOf(fields)
			if err != nil {
				continue
			}
			again := make(map[string]json.RawMessage)
			for name, texts := range values {
				if again[name], err = json.Marshal(texts); err != nil {
					t.Fatal(err)
				}
			}
			same, err := valuesOf(again)
			if diff := cmp.Diff(values, same); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		}
	})
}
