// Command bookindex makes a judged set of queries (see package eval) from the index at the end of
// a manual, in DocBook's HTML: each entry of the index is a query, and the pages to which the
// entry refers are its answers.
//
//	go run ./tests/bench/bookindex -in bookindex.html -base http://127.0.0.1:8000/ -out DIR
//
// It writes DIR/queries.tsv and DIR/qrels.tsv. base is the address from which the page was
// served. The page itself must be left out of the crawl: it has all the queries.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

func main() {
	in := flag.String("in", "", "the page of the index")
	base := flag.String("base", "", "the address of its directory")
	out := flag.String("out", "", "the directory of the results")
	flag.Parse()
	if err := run(*in, *base, *out); err != nil {
		log.Fatal(err)
	}
}

func run(in, base, out string) error {
	from, err := url.Parse(base)
	if err != nil {
		return err
	}
	page, err := os.Open(in)
	if err != nil {
		return err
	}
	defer page.Close() //nolint:errcheck // it was only read
	found, err := entries(page, from)
	if err != nil {
		return err
	}
	var queries, qrels strings.Builder
	for n, text := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&queries, "%d\t%s\n", n, text)
		for _, answer := range slices.Sorted(maps.Keys(found[text])) {
			fmt.Fprintf(&qrels, "%d\t%s\t1\n", n, answer)
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "queries.tsv"), []byte(queries.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "qrels.tsv"), []byte(qrels.String()), 0o644)
}

// entries returns the entries in the page of an index: for the text of each entry, the set of
// addresses of the pages to which it refers. It leaves out entries that only refer to other entries
// ("see …"). The parameter base is the address of the page.
func entries(page io.Reader, base *url.URL) (map[string]map[string]bool, error) {
	document, err := goquery.NewDocumentFromReader(page)
	if err != nil {
		return nil, err
	}
	found := make(map[string]map[string]bool)
	document.Find(".indexdiv dt").Each(func(_ int, entry *goquery.Selection) {
		references := entry.Find("a[href]")
		references.Remove()
		text, _, _ := strings.Cut(strings.Join(strings.Fields(entry.Text()), " "), "(see ")
		if text = strings.TrimRight(text, ", "); text == "" || strings.HasPrefix(text, "see ") {
			return
		}
		references.Each(func(_ int, a *goquery.Selection) {
			href := a.AttrOr("href", "")
			to, err := base.Parse(href)
			if err != nil || strings.HasPrefix(href, "#") {
				return
			}
			to.Fragment = ""
			if found[text] == nil {
				found[text] = make(map[string]bool)
			}
			found[text][to.String()] = true
		})
	})
	return found, nil
}
