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
	"io"
	"log"
	"net/url"
	"os"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"github.com/bucketsearch/bucketsearch/tests/bench/judged"
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
	return found.Write(out + "/")
}

// entries returns the entries in the page of an index: for the text of each entry, the set of
// addresses of the pages to which it refers. It leaves out entries that only refer to other entries
// ("see …"). The links on the page are relative to the parameter base.
func entries(page io.Reader, base *url.URL) (judged.Set, error) {
	document, err := goquery.NewDocumentFromReader(page)
	if err != nil {
		return nil, err
	}
	found := make(judged.Set)
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
			found.Add(text, to.String())
		})
	})
	return found, nil
}
