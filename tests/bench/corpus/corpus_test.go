package corpus

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

func TestExtractThenRead(t *testing.T) {
	sites := t.TempDir()
	for name, content := range map[string]string{
		"a-doc/usr/share/b.html": "<title>B</title><main><h1>Top</h1><p>some <b>bold</b> text",
		"a-doc/usr/share/a.html": "<title>A</title><p>first",
		"a-doc/usr/share/a.txt":  "no page",
		"b-doc/c.htm":            "<title>C</title>",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(sites, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sites, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(sites, "corpus")
	if err := Extract(file, sites, []string{"a-doc", "b-doc"}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []Page
	for p, err := range Read(bytes.NewReader(content)) {
		if err != nil {
			t.Fatal(err)
		}
		p.Lang = "" // the language of so few words is uncertain
		got = append(got, *p)
	}
	want := []Page{
		{URL: "http://docs.test/a-doc/usr/share/a.html", Title: "A", Body: "first", Bytes: 5},
		{
			URL: "http://docs.test/a-doc/usr/share/b.html", Title: "B", Headings: []string{"Top"}, Body: "Top\nsome bold text", Bytes: 18,
			Emphasis: []layout.Span{{Start: 9, End: 13}}, Large: []layout.Span{{Start: 0, End: 3}},
		},
		{URL: "http://docs.test/b-doc/c.htm", Title: "C"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadStopsAtDamage(t *testing.T) {
	for name, content := range map[string]string{
		"no JSON":   "what\n",
		"too short": `{"url":"a","bytes":9}` + "\nhello\n",
	} {
		t.Run(name, func(t *testing.T) {
			var failed error
			for _, err := range Read(strings.NewReader(content)) {
				failed = err
			}
			if failed == nil {
				t.Error("no error")
			}
		})
	}
}

func TestQueriesStandOnAPage(t *testing.T) {
	var content bytes.Buffer
	bodies := map[string]bool{}
	for i := range 100 {
		p := &Page{URL: fmt.Sprint(i), Body: strings.Repeat(fmt.Sprintf("word%s group%s pair%s often%s ",
			letters(i), letters(i%25), letters(i%30), letters(i%3)), 3)}
		bodies[p.Body] = true
		if err := Write(&content, p); err != nil {
			t.Fatal(err)
		}
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content.Bytes())), nil }
	queries, err := Queries(open, 20)
	if err != nil {
		t.Fatal(err)
	}
	if len(queries) < 15 {
		t.Errorf("only %d queries", len(queries))
	}
	often := 0
	for _, q := range queries {
		found := false
		for body := range bodies {
			all := true
			for word := range strings.FieldsSeq(q) {
				all = all && strings.Contains(body, word)
			}
			found = found || all
		}
		if n := len(strings.Fields(q)); !found || n < 2 || n > 3 {
			t.Errorf("query %q", q)
		}
		if strings.Contains(q, "often") {
			often++
		}
	}
	if often == 0 || often > len(queries)/4 {
		t.Errorf("%d of %d queries have a frequent word", often, len(queries))
	}
	again, err := Queries(open, 20)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(queries, again); diff != "" {
		t.Error(diff)
	}
	sentences, err := Sentences(open, 20, 8)
	if err != nil || len(sentences) != 20 {
		t.Fatalf("%d sentences, %v", len(sentences), err)
	}
	for _, s := range sentences {
		found := false
		for body := range bodies {
			found = found || strings.Contains(body, s)
		}
		if !found || len(strings.Fields(s)) != 8 {
			t.Errorf("sentence %q", s)
		}
	}
}

// letters returns two letters that stand for a number below 676, a different pair for each.
func letters(n int) string { return string(rune('a'+n/26)) + string(rune('a'+n%26)) }
