package docsearch

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestConvert compares the collection files and notes that are made of whole configurations with golden
// files. Look at these after -update: they are what a user gets.
func TestConvert(t *testing.T) {
	configs, err := filepath.Glob("testdata/*.json")
	if err != nil || len(configs) == 0 {
		t.Fatal(configs, err)
	}
	for _, path := range configs {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !IsConfig(content) {
			t.Errorf("%s is not taken for a configuration", path)
		}
		file, notes, err := Convert(filepath.Base(path), content)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		b.Write(file)
		for _, n := range notes {
			fmt.Fprintf(&b, "# %d: %s: %s\n", n.Line, n.Key, n.Text)
		}
		golden := strings.TrimSuffix(path, ".json") + ".toml"
		if *update {
			if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestScope checks that a page belongs to the collection if, and only if, its address begins with a start
// URL, as in DocSearch.
func TestScope(t *testing.T) {
	for _, test := range []struct{ starts, in, out string }{
		{`"https://a.example/docs/"`, "https://a.example/docs/x http://a.example/docs/y/z", "https://a.example/ https://a.example/doc/x"},
		{`["https://a.example/docs"]`, "https://a.example/docs http://a.example/docs/x https://a.example/docs.html", "https://a.example/blog/docs"},
		{`["https://a.example/docs", "https://b.example/"]`, "https://a.example/docs/x https://b.example/y", "https://a.example/y"},
		{`["https://a.example"]`, "https://a.example/x", "https://b.example/"},
	} {
		file, _, err := Convert("x.json", []byte(`{"index_name": "x", "stop_urls": ["/old"], "start_urls": `+test.starts+"}"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := collection.Parse("x.toml", file, fstest.MapFS{})
		if err != nil {
			t.Fatal(err)
		}
		rules, err := c.Rules()
		if err != nil {
			t.Fatal(err)
		}
		for _, urls := range []struct {
			list string
			in   bool
		}{{test.in, true}, {test.out, false}, {strings.ReplaceAll(test.in+" ", " ", "/old ") + "https://a.example/old", false}} {
			for _, url := range strings.Fields(urls.list) {
				at, err := collection.ParseSeed(url)
				if err != nil {
					t.Fatal(err)
				}
				if got := rules.Decide(at, 1, 0); (got == "") != urls.in {
					t.Errorf("start URLs %s: %s is refused: %q, want admitted: %v", test.starts, url, got, urls.in)
				}
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	many := `["` + strings.Repeat(`1", "`, 40) + `2"]`
	for content, want := range map[string]string{
		"":                    "c.json: it is empty",
		"{":                   "c.json: line 1: it is not JSON: it ends too early",
		"[]":                  "c.json: line 1: ",
		`{"index_name": "a"}`: "no address in start_urls",
		`{"index_name": "a", "start_urls": ["https://a.example/(?P<v>.*)"]}`:                                                                       "no address in start_urls",
		`{"start_urls": ["https://a.example/"]}`:                                                                                                   "no index_name or index_uid",
		"{\"index_name\": \"a\",\n\"start_urls\": [3]}":                                                                                            "c.json:2: start_urls: number 1 is neither an address nor",
		"{\"index_name\": 7,\n\"stop_urls\": {},\n\"start_urls\": \"https://a.example/\"}":                                                         "c.json:1: index_name: want a text in quotes\nc.json:2: stop_urls: want a list of texts",
		`{"index_name": "a", "start_urls": ["mailto:joe"]}`:                                                                                        "c.json:1: start_urls: seed \"mailto:joe\" is no web address",
		`{"index_name": "a", "start_urls": "https://a.example/", "sitemap_urls": ["x"]}`:                                                           "cannot make a collection of c.json:",
		`{"index_name": "a", "start_urls": [{"url": "https://a.example/(?P<v>.)/(?P<w>.)", "variables": {"v": ` + many + `, "w": ` + many + `}}]}`: "more than 1000 addresses",
		strings.Repeat(" ", MaxBytes+1):                                                                                                            "has more than 1048576 bytes",
	} {
		_, _, err := Convert("c.json", []byte(content))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v, want %q", content, err, want)
		}
	}
}

// FuzzConvert checks each file that Convert accepts: the result is a valid collection file with 1 to
// maxURLs seeds, and each Note has a line and a text.
func FuzzConvert(f *testing.F) {
	for _, path := range []string{"testdata/vuepress.json", "testdata/docusaurus.json"} {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, notes, err := Convert("c.json", content)
		if err != nil {
			return
		}
		c, err := collection.Parse("c.toml", file, fstest.MapFS{})
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		if len(c.Seeds) == 0 || len(c.Seeds) > maxURLs || !IsConfig(content) {
			t.Fatalf("%d seeds of %q", len(c.Seeds), content)
		}
		for _, n := range notes {
			if n.Line < 1 || n.Text == "" {
				t.Fatalf("%+v", n)
			}
		}
	})
}
