package collection

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/strategy/literal/tables"
)

var beside = fstest.MapFS{
	"sample.txt":    {Data: []byte("a transaction")},
	"page.html":     {Data: []byte("<title>Index</title><script>x = 1</script><p>B&amp;B <i>tree</i>")},
	"binary":        {Data: []byte("a\x00b")},
	"latin1.txt":    {Data: []byte("caf\xe9")},
	"long.txt":      {Data: []byte("x" + strings.Repeat("é", maxSampleBytes))},
	"too-long.txt":  {Data: make([]byte, maxSampleFile+1)},
	"below/one.txt": {Data: []byte("one")},
}

func TestSmallestFile(t *testing.T) {
	got, err := Parse("docs.toml", []byte("\ufeffname = 'docs'\r\nseeds = ['example.org/doc/']\r\n"), beside)
	if err != nil {
		t.Fatal(err)
	}
	want := Collection{
		Name: "docs", Seeds: []Seed{{"https://example.org/doc/", Host, Unlimited}},
		Delay: Duration(time.Second), HostConnections: 1, Connections: 30,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestFileWithEverything(t *testing.T) {
	got, err := Parse("postgres.toml", []byte(`
name = "postgres"
seeds = [ # two
  "https://www.postgresql.org/docs/16/",
  "https://www.postgresql.org/about",
]
scope = "prefix"
depth = 7
include = ["*/docs/*"]
exclude = ['re:/release-\d']
drop_parameters = []
sitemaps = ["https://www.postgresql.org/sitemap.xml"]
delay = "1m500ms"
connections = 40
host_connections = 2
pages = 10_000
host_pages = 300
pattern_pages = "unlimited"
language = "en"
schedule = "daily at 09:30 Europe/Berlin"
agent = "ExampleBot/1.0 (+https://example.org/bot)"
allow = ["127.0.0.0/8", "::1", "Intranet.example"]
assets = true
seed = [{url = "https://www.postgresql.org/about", depth = "unlimited"}]
[topic]
words = ["transaction"]
samples = ["https://example.org/a", "sample.txt", "page.html", "below/one.txt"]
threshold = 1
`), beside)
	if err != nil {
		t.Fatal(err)
	}
	want := Collection{
		Name:  "postgres",
		Seeds: []Seed{{"https://www.postgresql.org/docs/16/", Prefix, 7}, {"https://www.postgresql.org/about", Prefix, Unlimited}},
		Delay: Duration(60500 * time.Millisecond), HostConnections: 2, Pages: 10000, Agent: "ExampleBot/1.0 (+https://example.org/bot)",
		Include: []string{"*/docs/*"}, Exclude: []string{`re:/release-\d`}, DropParameters: []string{},
		Sitemaps:    []string{"https://www.postgresql.org/sitemap.xml"},
		Connections: 40, HostPages: 300, PatternPages: Unlimited, Schedule: "daily at 09:30 Europe/Berlin", Language: "en",
		Allow: []string{"127.0.0.0/8", "::1", "Intranet.example"}, Assets: true,
		Topic: &Topic{
			Words: []string{"transaction"}, Pages: []string{"https://example.org/a"},
			Texts: []string{"a transaction", "Index\nB&B\ntree", "one"}, Threshold: 1,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

func TestSeedTables(t *testing.T) {
	got, err := Parse("a.toml", []byte(`
name = "a"
depth = 3
[[seed]]
url = "example.org"
[[seed]]
url = "example.net"
scope = "any"
depth = 0
`), beside)
	if err != nil {
		t.Fatal(err)
	}
	want := []Seed{{"https://example.org/", Host, 3}, {"https://example.net/", Any, 0}}
	if diff := cmp.Diff(want, got.Seeds); diff != "" {
		t.Errorf("seeds (-want +got):\n%s", diff)
	}
}

// TestMistakes parses collection files that begin with two correct lines. Each file has one mistake.
// The error must name the line of the mistake.
func TestMistakes(t *testing.T) {
	for _, test := range []struct{ lines, want string }{
		{"depth = 'deep'", `3: depth is "deep"; write a number of links such as 3, or "unlimited"`},
		{"depth = -1", `3: depth is -1; write a number of links such as 3, or "unlimited"`},
		{"depth = 70000", `3: depth is 70000; write a number`},
		{"depth = [1]", `3: depth is a list; write a number of links such as 3, or "unlimited"`},
		{"scope = 'domain'", `3: scope "domain": choose prefix, host, site or any`},
		{"sedes = ['x']", `3: sedes: unknown, want one of name, scope, depth, seeds, seed, include,`},
		{"name = 'again'", `3: the line "name = 'again'" is no TOML (key name is already defined)`},
		{"pages = ", `3: `},
		{"pages = 'many'", `3: pages is "many"; write a whole number, 0 or more`},
		{"pages = -1", `3: pages is -1; write a whole number, 0 or more`},
		{"pages = 1.5", `3: pages is 1.5; write a whole number, 0 or more`},
		{"pages = 99999999999999999999", `3: `},
		{"pattern_pages = 0", `3: pattern_pages is 0; write a number of pages, 1 or more, or "unlimited"`},
		{"pattern_pages = 'all'", `3: pattern_pages is "all"; write a number of pages, 1 or more, or "unlimited"`},
		{"connections = 0", `3: connections is 0; write a whole number from 1 to 10000`},
		{"host_connections = 101", `3: host_connections is 101; write a whole number from 1 to 100`},
		{"delay = 1", `3: delay is 1; write a text in quotes`},
		{"delay = '1'", `3: delay is "1"; write a duration such as 500ms, 5s or 2m, 1h at most`},
		{"delay = '-1s'", `3: delay is "-1s"`},
		{"delay = '2h'", `3: delay is "2h"`},
		{"delay = '1us'", `3: delay is "1us"; write a number of whole milliseconds, such as 500ms`},
		{"include = '*'", `3: include is "*"; write a list of texts such as ["a", "b"]`},
		{"include = ['*', 7]", `3: include.1 is 7; write a text in quotes`},
		{"include = [\n'*',\n# no\n'/docs/',\n]", `6: pattern "/docs/" matches no address`},
		{"exclude = ['re:(']", `3: pattern "re:(" is no regular expression: missing closing ) in "("; write it like "re:/release-[0-9]+/"`},
		{"drop_parameters = ['a*b']", `3: parameter "a*b": want a name such as`},
		{"sitemaps = ['/sitemap.xml']", `3: sitemap: address "/sitemap.xml"`},
		{"assets = 'all'", `3: assets is "all"; write true or false`},
		{"allow = ['10.0.0.1/8']", `3: allow "10.0.0.1/8": want a range`},
		{"allow = ['http://intranet/']", `3: allow "http://intranet/": want a range`},
		{"allow = ['intranet:80']", `3: allow "intranet:80"`},
		{"allow = ['fe80::1%eth0']", `3: allow "fe80::1%eth0"`},
		{"allow = ['*.example']", `3: allow "*.example"`},
		{"allow = ['10.0']", `3: allow "10.0"`},
		{"language = 'English'", `3: language "English": want an ISO 639 code such as en`},
		{"schedule = 'daily'", `3: schedule "daily": want "once"`},
		{"schedule = 'daily at 25:00'", `3: schedule "daily at 25:00": time "25:00"`},
		{"agent = 'bot'", `3: agent "bot": want a name and where to reach you`},
		{"agent = 'bo\u0074 é@x'", `3: agent`},
		{"[[seed]]\nscope = 'host'", `3: seed without a url`},
		{"[[seed]]\nurl = 'x'", `4: seed "x" is no web address`},
		{"[[seed]]\nurl = 'a.org'\n[[seed]]\nurl = 'b.org'\ndepth = 'x'", `7: seed.1.depth is "x"; write a number`},
		{"[[seed]]\nurl = 'a.org'\nlink = 3", `5: seed.0.link: unknown, want one of scope, depth, url`},
		{"[seed]\nurl = 'a.org'", `3: seed is a table; write tables, each under a line [[seed]]`},
		{"seed = [1]", `3: seed is 1; write tables`},
		{"topic = 'x'", `3: topic is "x"; write a table, under a line [topic]`},
		{"[topic]", `3: topic: want words or samples`},
		{"[topic]\nwords = ['a']\nthreshold = 2", `5: topic.threshold is 2; write a number from 0 to 1`},
		{"[topic]\nwords = ['a']\nthreshold = 'x'", `5: topic.threshold is "x"; write a number from 0 to 1`},
		{"[topic]\nwords = ['a']\nthreshold = nan", `5: topic.threshold is NaN; write a number from 0 to 1`},
		{"[topic]\nword = ['a']", `4: topic.word: unknown, want one of words, samples, threshold`},
		{"[topic]\nsamples = ['none.txt']", `4: sample: open none.txt`},
		{"[topic]\nsamples = ['../sample.txt']", `4: sample: open ../sample.txt`},
		{"[topic]\nsamples = ['binary']", `4: sample binary: it is no text in UTF-8`},
		{"[topic]\nsamples = ['latin1.txt']", `4: sample latin1.txt: it is no text in UTF-8`},
		{"[topic]\nsamples = ['too-long.txt']", `4: sample: too-long.txt is longer than 1048576 bytes`},
		{"[topic]\nsamples = ['ftp://a.org/b']", `4: sample: address`},
	} {
		_, err := Parse("my.toml", []byte("name = 'my'\nseeds = ['https://example.org/']\n"+test.lines+"\n"), beside)
		if err == nil || !strings.HasPrefix(err.Error(), "my.toml:"+test.want) {
			t.Errorf("%s:\n%v, want my.toml:%s", test.lines, err, test.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one mistake:\n%v", test.lines, err)
		}
	}
}

func TestMistakesTogether(t *testing.T) {
	_, err := Parse("my.toml", []byte("sedes = ['a']\nname = 'A'\nseeds = ['https://a.org', 'b']\n"), beside)
	want := `my.toml:1: sedes: unknown, want one of `
	if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Count(err.Error(), "\n") != 2 ||
		!strings.Contains(err.Error(), "\nmy.toml:2: name \"A\": want") || !strings.Contains(err.Error(), "\nmy.toml:3: seed \"b\" is no web address") {
		t.Errorf("%v", err)
	}
	_, err = Parse("my.toml", []byte("name='a'\nseeds=["+strings.Repeat("\n'b',", 100)+"]"), beside)
	if lines := strings.Split(fmt.Sprint(err), "\n"); len(lines) != tables.MaxReported+1 || lines[tables.MaxReported] != "my.toml: and 80 mistakes more" {
		t.Errorf("of 100 mistakes:\n%v", err)
	}
	for content, want := range map[string]string{
		"":                   `my.toml: no name; write it like name = "docs"`,
		"name = 'my'":        "my.toml: no seeds: want addresses",
		"name='a'\nseeds=[]": "my.toml:2: no seeds: want addresses",
		"name = 3":           "my.toml:1: name is 3; write a text in quotes",
		"name = '\xff'":      "my.toml:1: the line \"name = '\\xff'\" is no TOML (invalid UTF-8",
		"name = 'a\nb'":      "my.toml:1: ",
		"include = ['*'," + strings.Repeat("'*',", maxPatterns) + "]\nname='a'\nseeds=['a.org']": "my.toml: include: 1001 patterns: want at most 1000",
	} {
		if _, err := Parse("my.toml", []byte(content), beside); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", content, err, want)
		}
	}
}

func TestLongSample(t *testing.T) {
	c, err := Parse("my.toml", []byte("name='my'\nseeds=['a.org']\ntopic.samples=['long.txt']"), beside)
	if err != nil {
		t.Fatal(err)
	}
	if want := "x" + strings.Repeat("é", (maxSampleBytes-1)/2); c.Topic.Texts[0] != want || c.Topic.Threshold != DefaultThreshold {
		t.Errorf("%d bytes of text, threshold %v", len(c.Topic.Texts[0]), c.Topic.Threshold)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "docs.toml")
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("docs.toml", "name='docs'\nseeds=['example.org']\ntopic.samples=['a.txt']")
	if _, err := ReadFile(path); err == nil || !strings.HasPrefix(err.Error(), path+":3: sample: ") {
		t.Errorf("without the sample: %v", err)
	}
	write("a.txt", "text")
	if c, err := ReadFile(path); err != nil || c.Topic.Texts[0] != "text" {
		t.Errorf("ReadFile: %+v, %v", c, err)
	}
	write("docs.toml", strings.Repeat("#", MaxBytes+1))
	for _, path := range []string{path, dir, filepath.Join(dir, "none.toml"), filepath.Join(dir, "none", "a.toml")} {
		if _, err := ReadFile(path); err == nil || !strings.HasPrefix(err.Error(), "cannot read collection "+path) {
			t.Errorf("ReadFile(%s): %v", path, err)
		}
	}
}

// FuzzFile proves that a collection that was read from a file is valid, and that every line of an
// error begins with the name of the file.
func FuzzFile(f *testing.F) {
	for _, content := range []string{
		"name='a'\nseeds=['a.org']\n[topic]\nwords=['a']", "seed=[{url='x',depth=[]}]\n[topic.x]\n[[a.b]]\n'a.b'=1", "a=[[[1]],#\n{b={c=1}}]", "[[seed]]\n[[seed]]\nurl=1\n[seed.x]",
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := Parse("my.toml", content, beside)
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "my.toml:") {
					t.Fatalf("%q in %v", line, err)
				}
			}
			return
		}
		c.Agent = "ExampleBot/1.0"
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
