package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/strategy/collection"
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

// TestRoundTrip crawls pages with assets, exports them as WACZ and imports the file into a new
// bucket, with the same collection file. Both buckets must list the same pages and assets, and
// a second import must change nothing.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	web := serve(t, map[string]string{
		"/":      "text/html <p>A page of herons <img src=/i.png> and <a href=/frog>frogs</a>",
		"/frog":  "text/html <link rel=stylesheet href=/s.css><p>A page of frogs",
		"/s.css": "text/css body { background: url(/i.png) }",
		"/i.png": "image/png \x89PNG\r\n\x1a\n",
	})
	file := "name = \"pond\"\nseeds = [\"" + web + "/\"]\ndelay = \"0s\"\nassets = true\nallow = [\"127.0.0.0/8\"]\n"
	if err := os.WriteFile(path("pond.toml"), []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	tell := func(args string) string {
		t.Helper()
		got := do(t.Context(), strings.Fields(args)...)
		if got.code != 0 {
			t.Fatalf("%s: exit %d:\n%s%s", args, got.code, got.out, got.err)
		}
		return got.out
	}
	collectionFile := " --collection " + path("pond.toml")
	if got := tell("crawl --data " + path("a") + collectionFile); !strings.HasPrefix(got, "2 pages and 2 assets stored in ") {
		t.Errorf("crawl: %s", got)
	}
	tell("export --format wacz --data " + path("a") + " -o " + path("a.wacz"))
	imported := func() string { return tell("import --data " + path("b") + collectionFile + " " + path("a.wacz")) }
	if got := imported(); !strings.HasPrefix(got, "2 pages and 2 assets imported in ") {
		t.Errorf("import: %s", got)
	}
	if got := imported(); !strings.HasPrefix(got, "0 pages imported in ") {
		t.Errorf("second import: %s", got)
	}
	size := regexp.MustCompile(` +\d+  `) // an export adds header fields
	list := func(data, more string) []string {
		return strings.Split(size.ReplaceAllString(tell("list --data "+path(data)+more), " "), "\n")
	}
	crawled := list("a", " --assets")
	if imported := list("b", " --assets"); len(crawled) != 5 || !slices.Equal(crawled, imported) {
		t.Errorf("crawled %q, imported %q", crawled, imported)
	}
	if pages := list("b", ""); len(pages) != 3 {
		t.Errorf("pages without assets: %q", pages)
	}
	if got := tell("report --by collection --data " + path("b")); !strings.Contains(got, "assets") {
		t.Errorf("report: %s", got)
	}
}

// serve serves a web site and returns its URL. The map holds the answer for each path: the media
// type, a space and the body.
func serve(t *testing.T, site map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		media, body, found := strings.Cut(site[r.URL.Path], " ")
		if !found {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestImportConfig imports a configuration of DocSearch. It must be printed as a collection file or
// written to one, and nothing may be stored.
func TestImportConfig(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	config := `{"index_name": "pond", "start_urls": ["https://pond.example/docs/"],` + "\n" + `"selectors": {"lvl0": "h1"}}`
	for name, content := range map[string]string{"pond.json": config, "wrong.json": `{"index_name": 7, "start_urls": []}`, "pond.warc": "WARC/1.0\r\n"} {
		if err := os.WriteFile(path(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args     []string
		code     exitCode
		out, err string
	}{
		{[]string{path("pond.json")}, exitDone, "name = 'pond'\n", path("pond.json") + ":2: selectors: not needed"},
		{[]string{"--to", path("pond.toml"), path("pond.json")}, exitDone, "", "to try it: bucketsearch --data " + path("data") + " collections check " + path("pond.toml")},
		{[]string{"--to", path("pond.toml"), path("pond.json")}, exitUsage, "", path("pond.toml") + " exists already"},
		{[]string{path("wrong.json")}, exitUsage, "", path("wrong.json") + ":1: index_name: want a text in quotes"},
		{[]string{"--collection", "other", path("pond.json")}, exitUsage, "", "--collection does not go with the configuration"},
		{[]string{path("pond.json"), path("wrong.json")}, exitUsage, "", "one configuration at a time"},
		{[]string{"--to", path("other.toml"), path("pond.warc")}, exitUsage, "", "--to is for a configuration"},
	} {
		got := do(t.Context(), append([]string{"import", "--data", path("data")}, test.args...)...)
		if got.code != int(test.code) || !strings.Contains(got.out, test.out) || !strings.Contains(got.err, test.err) {
			t.Errorf("%v: exit %d, want %d, %q and %q:\n%s%s", test.args, got.code, test.code, test.out, test.err, got.out, got.err)
		}
	}
	if _, err := os.Stat(path("data")); !os.IsNotExist(err) {
		t.Error("a bucket was made")
	}
	if c, err := collection.ReadFile(path("pond.toml")); err != nil || c.Name != "pond" {
		t.Errorf("%+v, %v", c, err)
	}
}
