package knownitem

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/tests/bench/corpus"
	"github.com/bucketsearch/bucketsearch/tests/browser"
)

// engine is a search engine.
type engine struct {
	name string
	// lacks returns what is missing to run the engine; "" if nothing is
	lacks func() string
	// search indexes a site, and returns the addresses of the first ten results of each query
	search func(b *testing.B, s *site, queries []string) [][]string
}

var engines = []engine{
	{"bucketsearch", func() string { return "" }, searchOurs},
	{"FTS5", lacks("python3"), searchFTS5},
	{"Pagefind", lacks("pagefind", "chromium"), searchPagefind},
}

func lacks(programs ...string) func() string {
	return func() string {
		for _, name := range programs {
			if _, err := exec.LookPath(name); err != nil {
				return name
			}
		}
		return ""
	}
}

// searchOurs crawls the site, and searches by the API.
func searchOurs(b *testing.B, s *site, queries []string) (all [][]string) {
	data := filepath.Join(s.dir, "data")
	command(b, program, "crawl", "--data", data, "--allow-private", "--delay", "0", s.base)
	cmd := exec.Command(program, "up", "--data", data, "--listen", "127.0.0.1:0")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	home := ""
	lines := bufio.NewScanner(stdout)
	for home == "" && lines.Scan() {
		home = regexp.MustCompile(`http://\S+/`).FindString(lines.Text())
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	for _, query := range queries {
		var answer struct{ Results []struct{ URL string } }
		response, err := http.Get(home + "v1/search?n=10&q=" + url.QueryEscape(query))
		if err != nil {
			b.Fatal(err)
		}
		err = json.NewDecoder(response.Body).Decode(&answer)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			b.Fatalf("%q: %s %v", query, response.Status, err)
		}
		var urls []string
		for _, hit := range answer.Results {
			urls = append(urls, hit.URL)
		}
		all = append(all, urls)
	}
	return all
}

// searchFTS5 searches by SQLite. It gets the title, the headings and the text of each page as our own index
// gets them.
func searchFTS5(b *testing.B, s *site, queries []string) [][]string {
	pages := filepath.Join(s.dir, "corpus")
	if err := corpus.Extract(pages, s.dir, []string{"site"}); err != nil {
		b.Fatal(err)
	}
	in, err := os.Open(pages)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	fts5 := func(subcommand string, in io.Reader) []byte {
		cmd := exec.Command("python3", "../../peers/fts5/fts5.py", subcommand, s.dir)
		cmd.Stdin, cmd.Stderr = in, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	fts5("index", in)
	all := read(b, bytes.NewReader(fts5("rank", strings.NewReader(strings.Join(queries, "\n")))))
	for _, urls := range all {
		for i, address := range urls {
			urls[i] = strings.TrimPrefix(address, "http://docs.test/site") // the directory of the pages
		}
	}
	return all
}

// ask is a JavaScript expression that searches for queries with Pagefind, one after another, in the same way as a
// page with Pagefind's search box. QUERIES stands for an array of strings.
const ask = `(async () => {
	const pagefind = await import("/pagefind/pagefind.js");
	const answers = [];
	for (const query of QUERIES) {
		const { results } = await pagefind.search(query);
		const first = await Promise.all(results.slice(0, 10).map((result) => result.data()));
		answers.push(JSON.stringify(first.map(({ url }) => url)));
	}
	return answers.join("\n");
})()`

// searchPagefind searches by Pagefind in Chromium.
func searchPagefind(b *testing.B, s *site, queries []string) [][]string {
	command(b, "pagefind", "--site", filepath.Join(s.dir, "site"), "--output-path", filepath.Join(s.dir, "pagefind"))
	page := browser.Open(b, 800, 600)
	page.Go(s.base + s.pages(b)[0])
	array, err := json.Marshal(queries)
	if err != nil {
		b.Fatal(err)
	}
	return read(b, strings.NewReader(page.Evaluate(strings.Replace(ask, "QUERIES", string(array), 1))))
}

// read reads the answers to queries: a JSON array of addresses for each.
func read(b *testing.B, answers io.Reader) (all [][]string) {
	b.Helper()
	for decoder := json.NewDecoder(answers); decoder.More(); {
		var urls []string
		if err := decoder.Decode(&urls); err != nil {
			b.Fatal(err)
		}
		all = append(all, urls)
	}
	return all
}
