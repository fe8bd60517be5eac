package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9/logging"

	"github.com/bucketsearch/bucketsearch/local/datadir"
)

// TestMain lets the test binary serve also as the embedded object store. The commands start it
// for this purpose as a child process.
func TestMain(m *testing.M) {
	logging.Disable()
	if len(os.Args) == 2 && os.Args[1] == storeName {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// ran holds the exit code and the output of a command.
type ran struct {
	code     int
	out, err string
}

// said returns the whole output of a command. From bucketsearch commands that the output
// recommends, it removes the flag --data with the given directory. So tests need not expect this
// flag.
func (r ran) said(data string) string {
	return strings.ReplaceAll(r.out+r.err, "bucketsearch --data "+data+" ", "bucketsearch ")
}

func do(ctx context.Context, args ...string) ran {
	var out, errOut bytes.Buffer
	code := run(ctx, args, strings.NewReader(""), &out, &errOut)
	return ran{code, out.String(), errOut.String()}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	busy := httptest.NewServer(http.NotFoundHandler())
	defer busy.Close()
	address := strings.TrimPrefix(busy.URL, "http://")
	data := filepath.Join(t.TempDir(), "data")
	files := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(files, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good.toml", "name = \"good\"\nseeds = [\"https://example.org/\"]\n")
	wrong := file("wrong.toml", "name = \"wrong\"\nseeds = [\"https://example.org/\"]\ndepth = \"deep\"\n")
	usual := file("usual.toml", "name = \"default\"\nseeds = [\"https://example.org/\"]\n")
	codes := map[string]exitCode{ // of the mistakes that are none of the command line alone
		"crawl --recrawl": exitNothing, "search words --data " + data: exitNothing, "page nonsense": exitNothing, "verify": exitNothing,
		"limits --storage 5GB": exitNothing, "eval --clicked": exitNothing, "eval --judged": exitNothing,
		"crawl --isolated --functions x example.org": exitFailed, "up --listen " + address: exitFailed,
		"crawl --redis redis://127.0.0.1:1/0 example.org": exitUnreachable,
	}
	for _, c := range []struct{ args, want string }{
		{"crawl --collection " + wrong, wrong + `:3: depth is "deep"; write a number of links such as 3, or "unlimited"`},
		{"up --collection " + wrong, wrong + ":3: depth is "},
		{"crawl --collection " + wrong + "s", "cannot read collection " + wrong + "s"},
		{"crawl --delay 0 --collection " + good, "--delay does not go with --collection, whose file says it (delay); change " + good},
		{"crawl --pages 3 example.org --collection " + good, "whose file says it (pages)"},
		{"crawl --collection " + good + " --collection " + good, good + " and " + good + ` are one collection, "good"`},
		{"crawl example.org --collection " + usual, "the seeds of the command line and " + usual + ` are one collection, "default"`},
		{"collections check " + wrong, wrong + ":3: depth is "},
		{"collections check Good", `name "Good": want up to 63 lower-case letters, digits and hyphens; a file ends in .toml`},
		{"crawl", "crawl needs a seed"},
		{"import", "import needs a file"},
		{"import --collection A " + good, `name "A": want up to 63 lower-case letters`},
		{"import " + good + "s", "no such file"},
		{"crawl --recrawl", "nothing has been crawled yet into "},
		{"crawl mailto:joe", "is no web address"},
		{"crawl http:///docs", "is no web address: it does not begin with the name of a host"},
		{"crawl --scope planet example.org", `scope "planet": choose prefix, host, site or any`},
		{"crawl --depth -2 example.org", `--depth is "-2"; write a number of links such as 3, or "unlimited"`},
		{"crawl --pages -1 example.org", `--pages is "-1"; write a whole number, 0 or more`},
		{"crawl --delay -1s example.org", `--delay is "-1s"; write a duration such as 500ms, 5s or 2m, 1h at most`},
		{"crawl --host-connections 0 example.org", `--host-connections is "0"; write a whole number from 1 to 100`},
		{"crawl --partitions 0 example.org", `--partitions is "0"; write a whole number from 1 to`},
		{"crawl --functions x example.org", "--functions has no meaning without --isolated"},
		{"crawl --isolated --functions x example.org", "no Lambda binaries in x; build them first (go build"},
		{"crawl --dept 3 example.org", "there is no flag --dept; perhaps --depth is meant; see: bucketsearch crawl --help"},
		{"crawl --s3 nowhere example.org", "is no URL of a bucket; write it like"},
		{"crawl --redis nowhere example.org", `--redis or BUCKETSEARCH_REDIS is "nowhere"; write an address such as redis://127.0.0.1:6379/0`},
		{"crawl --redis redis://127.0.0.1:1/0 example.org", "redis at 127.0.0.1:1 cannot be used; is it running"},
		{"crawll example.org", `there is no command "crawll"; perhaps crawl is meant; for all: bucketsearch --help`},
		{"help crawll", `there is no command "crawll"; perhaps crawl is meant; for all: bucketsearch --help`},
		{"help keys ad", `there is no command "ad"; perhaps add is meant; for all: bucketsearch keys --help`},
		{"up --listen " + address, "another program serves at " + address + "; choose another address, such as --listen"},
		{"up --listen nowhere", `--listen is "nowhere"; write an address and a port, such as 127.0.0.1:8080`},
		{"crawl example.org --data " + data + " --delay", "--delay needs a value behind it, pause: pause after each answer of a host"},
		{"page --json=maybe", "there is no flag --json"},
		{"status --json=maybe", `--json is "maybe"; write true or false, or the flag alone`},
		{"status --=maybe", `"--=maybe" is no flag`},
		{"publish", "publish needs files, such as: bucketsearch "},
		{"query", "query needs a bucket elsewhere, such as --s3 https://"},
		{"query --s3 http://127.0.0.1:1/pages --cache-size 1GB", "--cache-size has no meaning without --cache"},
		{"work --s3 http://127.0.0.1:1/pages", "work needs a bucket and a Redis elsewhere, --s3 URL and --redis URL or BUCKETSEARCH_REDIS"},
		{"work --functions fetch,sleep", `--functions is "fetch,sleep"; write some of schedule,fetch,`},
		{"work --s3 http://127.0.0.1:1/pages --queues https://sqs.example/1/s- --functions fetch,pack", "the function pack needs a Redis: --redis URL or BUCKETSEARCH_REDIS"},
		{"search", "search needs words"},
		{"search -n 0 words", `--number is "0"; write a whole number from 1 to 1000`},
		{"search words -sql", "goes in quotes behind --"},
		{"search words --data " + data, "nothing has been crawled yet into " + data},
		{"page", "page needs one address"},
		{"page nonsense", "nothing has been crawled yet"},
		{"status now", "status takes no argument"},
		{"verify", "crawl a site first"},
		{"why", "why needs one address"},
		{"forget", "forget needs an address or a site"},
		{"limits --storage 5GB", "nothing has been crawled yet"},
		{"eval", "eval needs --queries and --qrels, or --judged or --clicked"},
		{"eval --judged --docs " + good, "--judged and --clicked take queries and judgments from the bucket"},
		{"eval --weights " + good, "cannot read weights"},
		{"eval --weights nowhere.json", "no such file"},
		{"eval --judged --clicked", "run one after the other"},
		{"eval --clicked", "nothing has been crawled yet"},
		{"eval --judged", "nothing has been crawled yet"},
		{"pause now", "pause takes no argument"},
		{"mcp now", "mcp takes no argument"},
		{"mcp --allow-crawl mailto:joe", "--allow-crawl: seed \"mailto:joe\" is no web address"},
	} {
		args := strings.Fields(c.args)
		if !strings.Contains(c.args, "--data") {
			args = append(args, "--data", filepath.Join(t.TempDir(), "data"))
		}
		got, code := do(t.Context(), args...), exitUsage
		if other, found := codes[c.args]; found {
			code = other
		}
		if got.code != int(code) || !strings.HasPrefix(got.err, "bucketsearch: ") || !strings.Contains(got.err, c.want) {
			t.Errorf("%s: exit %d, said %q; want %d and %q", c.args, got.code, got.err, code, c.want)
		}
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("a search has made a data directory")
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{nil, {"help"}, {"help", "crawl"}, {"up", "--help"}, {"search", "-h"}, {"help", "status"}, {"help", "page"}, {"help", "verify"},
		{"help", "why"}, {"help", "forget"}, {"help", "limits"}, {"help", "pause"}, {"help", "resume"}, {"help", "export"}, {"help", "list"}, {"help", "report"}, {"help", "import"}, {"help", "eval"}, {"help", "mcp"}, {"help", "publish"}, {"help", "query"}, {"help", "work"}} {
		got := do(t.Context(), args...)
		if got.code != 0 || !strings.Contains(got.out, "Examples:\n  bucketsearch ") {
			t.Errorf("%v: exit %d; help without examples:\n%s", args, got.code, got.out)
		}
		for line := range strings.Lines(got.out) {
			if len(line) > 96 {
				t.Errorf("%v: a line of %d bytes: %s", args, len(line), line)
			}
		}
	}
}

const pondText = "<!doctype html><title>Pond</title><p>Herons stand in the pond. <a href=/frog>Frogs</a> jump."

// pond serves a web site of two pages, about herons and frogs, and returns its address.
func pond(t *testing.T) string {
	mux := http.NewServeMux()
	page := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, text)
		}
	}
	mux.HandleFunc("/{$}", page(pondText))
	mux.HandleFunc("/frog", page("<!doctype html><title>Frog</title><p>The frog is green."))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestCommands(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	words := func(want int, args ...string) ran {
		t.Helper()
		got := do(t.Context(), append(args, "--data", data)...)
		if got.code != want {
			t.Fatalf("%v: exit %d:\n%s%s", args, got.code, got.out, got.err)
		}
		return got
	}
	got := words(3, "crawl", "--delay", "0", web)
	if !strings.Contains(got.out, web+"/ is not stored: address refused (the address is not public; add --allow-private, or name the host in allow of the collection)") {
		t.Errorf("crawl of a private address: %s", got.out)
	}
	if got := do(t.Context(), "crawl", "--data", data, "--partitions", "5", web); got.code != 1 || !strings.Contains(got.err, "--partitions 5 is for a new bucket, and this one has 1; to divide it: bucketsearch --data ") {
		t.Errorf("crawl with other partitions: %d, %s", got.code, got.err)
	}
	got = words(0, "crawl", "--delay", "0", "--allow-private", web, web+"/toad")
	for _, want := range []string{"2 pages stored in ", "3 URLs discovered\n", "2 documents", web + "/toad is not stored: http 404 (Not Found)\n"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("crawl: want %q:\n%s", want, got.out)
		}
	}
	if strings.Contains(got.err, "redis") {
		t.Errorf("crawl: said %q", got.err)
	}
	if got := words(0, "page", web).out; got != pondText {
		t.Errorf("page: %q", got)
	}
	if got := words(3, "page", web+"/toad").err; !strings.Contains(got, "no page is stored for this address") {
		t.Errorf("absent page: %q", got)
	}
	if got := words(0, "search", "heron").out; !regexp.MustCompile(`(?s)^ 1\. Pond\n    ` + web + `/\n.*1 page matches \([0-9.]+ ms\)\n$`).MatchString(got) {
		t.Errorf("search:\n%s", got)
	}
	var found struct {
		Total   int
		Results []struct{ URL, Title string }
	}
	if err := json.Unmarshal([]byte(words(0, "search", "--json", "green", "frog").out), &found); err != nil {
		t.Fatal(err)
	}
	if found.Total == 0 || found.Results[0].URL != web+"/frog" {
		t.Errorf("search: %+v", found)
	}
	// Before the last line there may be one of segments that were merged at the end of the crawl, and are deleted later.
	if got := words(0, "verify").out; !strings.Contains("\n"+got, "\n3 URLs: 2 stored, 0 skipped, 1 failed, 0 pending; 2 pages in ") || !strings.HasSuffix(got, ": 0 problems\n") {
		t.Errorf("verify: %s", got)
	}
	checkStatus(t, data, words)
}

func checkStatus(t *testing.T, data string, words func(int, ...string) ran) {
	t.Helper()
	var status struct {
		Discovered, Stored, Pending, Documents int
		Failed                                 map[string]int
		Requests                               struct{ Put, Get int }
	}
	if err := json.Unmarshal([]byte(words(0, "status", "--json").out), &status); err != nil {
		t.Fatal(err)
	}
	if status.Discovered != 3 || status.Stored != 2 || status.Documents != 2 || status.Failed["http 404"] != 1 || status.Requests.Put == 0 {
		t.Errorf("status: %+v", status)
	}
	if err := os.WriteFile(filepath.Join(data, "requests.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := words(0, "status")
	if !strings.Contains(got.err, "counting begins anew") || !strings.Contains(got.out, "3 URLs discovered") {
		t.Errorf("status with damaged counts: %+v", got)
	}
}

// TestCollection crawls the collection of a file, and searches only in this collection.
func TestCollection(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	file := filepath.Join(t.TempDir(), "pond.toml")
	content := fmt.Sprintf("name = \"pond\"\nseeds = [%q]\ndelay = \"0s\"\nexclude = [\"*/frog\"]\nallow = [\"127.0.0.1\"]\n", web+"/?utm_source=file")
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"crawl", "--collection", file}, "1 page stored in "},
		{[]string{"search", "collection:pond", "heron"}, web + "/"},
		{[]string{"search", "--collection", "pond", "heron"}, web + "/"},
		{[]string{"search", "collection:lake", "heron"}, "0 pages match"},
		{[]string{"status", "--collection", "pond"}, "1 excluded (a pattern of exclude matches)\n         0 failed\n         0 pending\ncollection pond: 1 stored, 0 pending; to be asked again: 0, the next at "},
		{[]string{"page", web + "/?gclid=7"}, pondText},
		{[]string{"why", web + "/?gclid=7"}, web + "/\nstate     stored\n"},
		{[]string{"verify"}, ": 0 problems"},
		{[]string{"forget", "--yes", web + "/?gclid=7"}, "1 stored page forgotten"},
	} {
		if got := do(t.Context(), append(c.args, "--data", data)...); got.code != 0 || !strings.Contains(got.out, c.want) {
			t.Errorf("%v: %+v; want %q", c.args, got, c.want)
		}
	}
	if got := do(t.Context(), "status", "--collection", "lake", "--data", data); got.code != 1 || !strings.Contains(got.err, `no collection "lake"; there are: pond`) {
		t.Errorf("status of a collection that is none: %+v", got)
	}
}

// TestUp serves the search page while other commands use the same bucket.
func TestUp(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ready, ended := make(chan string, 1), make(chan int, 1)
	out := &watcher{pattern: regexp.MustCompile(`(http://\S+/) \(Ctrl-C stops\)\n(?s:.*)2 pages crawled and indexed\.`), found: ready}
	go func() {
		ended <- run(ctx, []string{"up", "--data", data, "--listen", "127.0.0.1:0", "--delay", "0", "--allow-private", web},
			strings.NewReader(""), out, &bytes.Buffer{})
	}()
	var home string
	select {
	case home = <-ready:
	case code := <-ended:
		t.Fatalf("exit %d: %s", code, out.text.String())
	}
	response, err := http.Get(home + "search?q=heron")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("search page: %s", response.Status)
	}
	if running, err := datadir.ReadRunning(data); err != nil || running.HTTP != home {
		t.Errorf("running: %+v, %v; want %s", running, err, home)
	}
	for args, want := range map[string]string{"search heron": "Pond", "status": "2 stored", "verify": ": 0 problems"} {
		if got := do(t.Context(), append(strings.Fields(args), "--data", data)...); got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("%s: %+v; want %q", args, got, want)
		}
	}
	if got := do(t.Context(), "crawl", web, "--data", data); got.code != 1 || !strings.Contains(got.err, "data directory is in use") {
		t.Errorf("crawl beside up: %+v", got)
	}
	interrupt()
	if code := <-ended; code != 0 || !strings.Contains(out.text.String(), "Stopping.") {
		t.Errorf("exit %d: %s", code, out.text.String())
	}
}

// watcher is a writer that waits for a text that matches the pattern. Then it sends the text of
// the pattern's first group to the channel, once.
type watcher struct {
	text    bytes.Buffer
	pattern *regexp.Regexp
	found   chan string
}

func (w *watcher) Write(p []byte) (int, error) {
	w.text.Write(p)
	if m := w.pattern.FindStringSubmatch(w.text.String()); m != nil && w.found != nil {
		w.found <- m[1]
		w.found = nil
	}
	return len(p), nil
}
