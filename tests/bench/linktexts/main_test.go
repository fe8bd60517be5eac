package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun makes queries from the texts of links. A text may become a query only if all links with
// this text lead to the same page. The copy of the manual must lack all links whose texts became
// queries, and must have all other links.
func TestRun(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	var index strings.Builder
	for i := range 40 {
		name := fmt.Sprintf("p%d.html", i)
		fmt.Fprintf(&index, `<a href="sub/%s#x">text of  Link %d</a> <a href="sub/%s">Title %d</a> <a href="sub/%s">next page</a>`, name, i, name, i, name)
		write(t, filepath.Join(in, "sub", name), fmt.Sprintf("<title>Title %d</title>", i))
	}
	write(t, filepath.Join(in, "index.html"), index.String())
	if err := run(in, "http://127.0.0.1/m/", out); err != nil {
		t.Fatal(err)
	}
	queries, qrels, site := written(t, out, "queries.tsv"), written(t, out, "qrels.tsv"), written(t, out, "site/index.html")
	n := strings.Count(queries, "\ttext of link ")
	if n < 4 || n > 20 || n != strings.Count(queries, "\n") {
		t.Errorf("%d queries of 40 texts:\n%s", n, queries)
	}
	if strings.Count(qrels, "\thttp://127.0.0.1/m/sub/p") != n {
		t.Errorf("qrels:\n%s", qrels)
	}
	if left := strings.Count(site, "<a "); left != 120-n {
		t.Errorf("%d of 120 links are left, of which %d are queries", left, n)
	}
	for i := range 40 {
		written(t, out, fmt.Sprintf("site/sub/p%d.html", i))
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func written(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
