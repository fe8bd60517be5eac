package compat_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the answers in testdata anew")

// recorded is a request that the unchanged package of a front end has sent from a page in the browser
// Chromium. The front end was configured as the package comment says.
type recorded struct {
	SentBy string            `json:"sent_by"` // package with its version
	Path   string            `json:"path"`
	Header map[string]string `json:"header"`
	Body   json.RawMessage   `json:"body"`
	Reads  []string          `json:"reads"` // paths of members that the package reads (see valuesAt)
}

// TestRecorded sends the recorded requests of real front ends. It checks that each hit of the answers has
// the attributes that the front end reads, and that the answers are the same as the files in testdata.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/*.request.json")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	_, h := newStore(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var r recorded
			if err := json.Unmarshal(content, &r); err != nil {
				t.Fatal(err)
			}
			var header []string
			for name, value := range r.Header {
				header = append(header, name+": "+value)
			}
			w := post(h, r.Path, string(r.Body), header...)
			answer := decode(t, w, 200)
			for _, path := range r.Reads {
				hits, _, inHit := strings.Cut(path, "hits[].")
				want := len(valuesAt(answer, "results[].query"))
				if inHit {
					want = len(valuesAt(answer, hits+"hits[].url"))
				} else if want == 0 {
					want = 1
				}
				if values := valuesAt(answer, path); len(values) != want || want == 0 {
					t.Errorf("%s reads %s: there are %d of them, want %d", r.SentBy, path, len(values), want)
				}
			}
			var got bytes.Buffer
			if err := json.Indent(&got, w.Body.Bytes(), "", " "); err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".request.json") + ".answer.json"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("the answer to %s (-want +got):\n%s", r.SentBy, diff)
			}
		})
	}
}
