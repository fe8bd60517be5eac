package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQueries(t *testing.T) {
	got := site{host: "docs.foo.co.uk", names: []string{"foo"}}.queries()
	if diff := cmp.Diff([]string{"foo", "foo documentation", "foo docs", "foo manual", "foo website", "docs foo"}, got); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c", "index"} {
		page := "<title>" + strings.ToUpper(name) + " - Foo</title><p>text"
		if err := os.WriteFile(filepath.Join(dir, name+".html"), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	titles, err := site{host: "foo.example"}.write(w, dir, 2)
	if err != nil || w.Flush() != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"https://foo.example/a.html": "A"}, titles); diff != "" {
		t.Errorf("titles (-want +got):\n%s", diff)
	}
	if n := strings.Count(b.String(), "WARC-Type: response"); n != 3 || !strings.Contains(b.String(), "WARC-Target-URI: https://foo.example/index.html\r\n") {
		t.Errorf("%d records: %s", n, b.String())
	}
}
