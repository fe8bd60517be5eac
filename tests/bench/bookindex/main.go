// Command bookindex makes a judged set of queries (see package eval) from the index at the end of a manual, which
// is HTML made by DocBook or Sphinx:
//
//	made by   query                                              answers
//	DocBook   each entry of the index                            the pages to which the entry refers
//	Sphinx    each name among the entries, such as append for    the pages of all things with this name
//	          "append() (list method)"
//
//	go run ./tests/bench/bookindex -in bookindex.html -base http://127.0.0.1:8000/ -out DIR
//	go run ./tests/bench/bookindex -in genindex-all.html -base http://127.0.0.1:8000/ -out DIR
//
// It writes DIR/queries.tsv and DIR/qrels.tsv. The flag -base gives the address from which the page was served.
// This page must be left out of the crawl, because it contains the text of every query.
package main

import (
	"io"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"github.com/bucketsearch/bucketsearch/tests/bench/judged"
)

func main() {
	judged.Main("the page of the index", "the address of its directory", "the directory of the results", judged.OfFile(entries))
}

// entries reads the index of a manual from its HTML page. For the text of each entry, the result
// has the addresses of the pages to which the entry refers. Entries that only refer to other
// entries ("see …") are left out. base is the address of the page.
func entries(page io.Reader, base *url.URL) (map[string]judged.Set, error) {
	document, err := goquery.NewDocumentFromReader(page)
	if err != nil {
		return nil, err
	}
	found := make(judged.Set)
	addNames(found, document, base)
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
	return map[string]judged.Set{"": found}, nil
}

// addNames adds queries from an index that Sphinx has made. An entry such as "append() (list method)" gives the
// query append. Its answers are the pages of all things with this name: the page of the entry itself, and the
// pages of the entries below it that begin with a parenthesis, such as "(deque method)". Entries without a
// parenthesis are left out.
func addNames(found judged.Set, document *goquery.Document, base *url.URL) {
	document.Find(".genindextable td > ul > li").Each(func(_ int, entry *goquery.Selection) {
		name, _, is := strings.Cut(entry.Find("a").First().Text(), " (")
		if name = strings.TrimSuffix(name, "()"); !is || strings.ContainsRune(name, ' ') {
			return
		}
		entry.Find("a[href]").Each(func(n int, a *goquery.Selection) {
			to, err := base.Parse(a.AttrOr("href", ""))
			if err != nil || n > 0 && !strings.HasPrefix(a.Text(), "(") {
				return
			}
			to.Fragment = ""
			found.Add(name, to.String())
		})
	})
}
