// Command glossary makes two judged sets of queries (see package eval) from the glossary of a
// manual, in DocBook's HTML. The answers to an entry are the pages at which a sentence "For more
// information, see …" of its definition points.
//
//	go run ./tests/bench/glossary -in glossary.html -base http://127.0.0.1:8000/ -out DIR
//
//	DIR/terms-queries.tsv, DIR/terms-qrels.tsv               queries are the terms
//	DIR/definitions-queries.tsv, DIR/definitions-qrels.tsv   queries are the definitions
//
// The flag -base gives the address from which the page was served. This page must be left out of
// the crawl, because it contains the text of every query.
package main

import (
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"github.com/bucketsearch/bucketsearch/tests/bench/judged"
)

func main() {
	judged.Main("the page of the glossary", "the address of its directory", "the directory of the results", judged.OfFile(entries))
}

// pointer begins the sentence of a definition that points at other pages.
const pointer = "For more information, see"

// entries reads a glossary from its HTML page, which has the given address. Entries that point at no
// other page are left out, and so are remarks in brackets after a term, such as (process).
func entries(page io.Reader, address *url.URL) (map[string]judged.Set, error) {
	document, err := goquery.NewDocumentFromReader(page)
	if err != nil {
		return nil, err
	}
	terms, definitions := make(judged.Set), make(judged.Set)
	document.Find("dd.glossdef").Each(func(_ int, entry *goquery.Selection) {
		term, _, _ := strings.Cut(textOf(entry.PrevAllFiltered("dt").First()), " (")
		definition, _, _ := strings.Cut(textOf(entry), pointer)
		entry.Find("p").Each(func(_ int, paragraph *goquery.Selection) {
			if !strings.Contains(textOf(paragraph), pointer) {
				return
			}
			paragraph.Find("a.xref[href]").Each(func(_ int, a *goquery.Selection) {
				to, err := address.Parse(a.AttrOr("href", ""))
				if err != nil || path.Base(to.Path) == path.Base(address.Path) {
					return
				}
				to.Fragment = ""
				terms.Add(term, to.String())
				definitions.Add(strings.TrimSpace(definition), to.String())
			})
		})
	})
	return map[string]judged.Set{"terms-": terms, "definitions-": definitions}, nil
}

func textOf(s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") }
