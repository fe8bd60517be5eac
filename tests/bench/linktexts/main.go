// Command linktexts makes a judged set of queries (see package eval) from a manual: some texts of
// its links are the queries, and the pages to which the links lead are the answers.
//
//	go run ./tests/bench/linktexts -in DIR -base http://127.0.0.1:8000/ -out OUT
//
// DIR holds HTML pages; those named genindex, the indexes of Sphinx's manuals, are left out. The
// command writes OUT/queries.tsv, OUT/qrels.tsv and OUT/site, a copy of the pages that is to be
// crawled. The flag -base gives the address from which OUT/site will be served. The copy lacks the
// links whose texts are queries. Otherwise a search engine would learn the answers from the texts
// of the links, and a page with such a link would contain the query itself.
package main

import (
	"hash/fnv"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"

	"github.com/bucketsearch/bucketsearch/tests/bench/judged"
)

func main() {
	judged.Main("directory with pages of HTML", "address from which the copy in OUT/site is served", "directory of the results", run)
}

func run(in, base, out string) error {
	m, err := read(in, base)
	if err != nil {
		return err
	}
	set := make(judged.Set)
	for text, targets := range m.targets() {
		if len(targets) != 1 || !isHeldOut(text) {
			continue
		}
		for target := range targets {
			if title, is := m.titles[target]; is && title != text {
				set.Add(text, target)
			}
		}
	}
	for name, page := range m.pages {
		page.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
			if _, held := set[textOf(a)]; held {
				a.Remove()
			}
		})
		html, err := page.Html()
		if err != nil {
			return err
		}
		path := filepath.Join(out, "site", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(html), 0o644); err != nil {
			return err
		}
	}
	return set.Write(out + "/")
}

// manual is a directory of HTML pages.
type manual struct {
	base   *url.URL                     // address from which the manual is served
	pages  map[string]*goquery.Document // pages by their path in the directory
	titles map[string]string            // titles of the pages, in lower case, by address
}

// read reads all pages in and below a directory.
func read(in, base string) (*manual, error) {
	root, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	m := &manual{root, make(map[string]*goquery.Document), make(map[string]string)}
	dir := os.DirFS(in)
	return m, fs.WalkDir(dir, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".html") || strings.Contains(name, "genindex") {
			return err
		}
		file, err := dir.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		if m.pages[name], err = goquery.NewDocumentFromReader(file); err != nil {
			return err
		}
		m.titles[root.JoinPath(name).String()] = textOf(m.pages[name].Find("title").First())
		return nil
	})
}

// targets returns, for each text of a link, the set of addresses (without fragments) to which
// links with this text lead.
func (m *manual) targets() map[string]map[string]bool {
	all := make(map[string]map[string]bool)
	for name, page := range m.pages {
		from := m.base.JoinPath(name)
		page.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
			to, err := from.Parse(a.AttrOr("href", ""))
			if err != nil {
				return
			}
			to.Fragment = ""
			text := textOf(a)
			if all[text] == nil {
				all[text] = make(map[string]bool)
			}
			all[text][to.String()] = true
		})
	}
	return all
}

// textOf returns the text of elements in lower case, with single spaces.
func textOf(s *goquery.Selection) string {
	return strings.ToLower(strings.Join(strings.Fields(s.Text()), " "))
}

// isHeldOut reports whether the text of a link may become a query. It may if it has two to eight
// words, and begins with a letter. Of these texts, only one in four is chosen, by its hash.
func isHeldOut(text string) bool {
	words := len(strings.Fields(text))
	if first, _ := utf8.DecodeRuneInString(text); !unicode.IsLetter(first) {
		return false
	}
	hash := fnv.New32a()
	hash.Write([]byte(text))
	return words >= 2 && words <= 8 && hash.Sum32()%4 == 0
}
