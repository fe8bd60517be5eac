package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Pages that are exported as WARC and imported into another bucket have the same addresses,
// times and texts.
func TestExportedIsImported(t *testing.T) {
	t.Parallel()
	web, folder := pond(t), t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	words := func(want int, args ...string) ran {
		t.Helper()
		got := do(t.Context(), args...)
		if got.code != want {
			t.Fatalf("%v: exit %d:\n%s%s", args, got.code, got.out, got.err)
		}
		return got
	}
	lines := func(data string) []string {
		words(0, "export", "--data", path(data), "-o", path(data+".jsonl"))
		content, err := os.ReadFile(path(data + ".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Sorted(strings.Lines(strings.ReplaceAll(string(content), `"imported"`, `"default"`)))
		if len(all) != 2 {
			t.Fatalf("%d pages", len(all))
		}
		return all
	}
	words(0, "crawl", "--delay", "0", "--allow-private", "--data", path("a"), web)
	words(0, "export", "--format", "warc", "--data", path("a"), "-o", path("a.warc.gz"))
	got := words(0, "import", "--data", path("b"), path("a.warc.gz"))
	if !strings.HasPrefix(got.out, "2 pages imported in ") || !strings.HasSuffix(got.out, "records: 2 response, 1 warcinfo\n") || got.err != "" {
		t.Errorf("import: %s%s", got.out, got.err)
	}
	if crawled, imported := lines("a"), lines("b"); !slices.Equal(crawled, imported) {
		t.Errorf("crawled %q, imported %q", crawled, imported)
	}
	if got := words(0, "search", "--data", path("b"), "heron").out; !strings.Contains(got, web+"/\n") {
		t.Errorf("search: %s", got)
	}
	if got := words(0, "why", "--data", path("b"), web+"/frog").out; !strings.Contains(got, "found     in an imported file, at depth 1: no collection\n") ||
		!strings.Contains(got, "stored (imported from a.warc.gz), status 200") {
		t.Errorf("why: %s", got)
	}
	content, err := os.ReadFile(path("a.warc.gz"))
	if err == nil {
		err = os.WriteFile(path("cut.warc.gz"), content[:len(content)-10], 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	got = words(1, "import", "--data", path("c"), path("cut.warc.gz"))
	if !strings.HasPrefix(got.out, "1 page imported in ") || !strings.HasPrefix(got.err, "damaged: "+path("cut.warc.gz")+", byte ") || !strings.HasSuffix(got.err, ": the file ends in the middle of a record\n") {
		t.Errorf("cut: %s%s", got.out, got.err)
	}
}
