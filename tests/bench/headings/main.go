// Command headings makes a judged set of queries (see package eval) for each language of a manual
// that was translated: the heading of each section within a page is a query, and the pages that
// have it are its answers.
//
//	go run ./tests/bench/headings -in DIR -base http://127.0.0.1:8000/ -out OUT
//
// DIR holds a directory of HTML pages for each language, such as de-DE, as Debian's debian-handbook
// has them below /usr/share/doc/debian-handbook/html. The flag -base gives the address from which
// DIR is served. The command writes OUT/LANGUAGE/queries.tsv and qrels.tsv.
//
// If a section is not translated into a language yet, the pages of that language have the original
// section with its heading. Therefore a heading that occurs in several languages is left out. This
// leaves hardly any queries for the original language: most of its sections are not yet translated
// into at least one language.
package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"github.com/bucketsearch/bucketsearch/tests/bench/judged"
)

func main() {
	judged.Main("directory with a directory of pages for each language", "address from which it is served", "directory of the results", run)
}

func run(in, base, out string) error {
	pages, err := filepath.Glob(filepath.Join(in, "*", "*.html"))
	if err != nil {
		return err
	}
	sets := make(map[string]judged.Set)           // by language
	languages := make(map[string]map[string]bool) // of each heading
	for _, path := range pages {
		page, err := os.Open(path)
		if err != nil {
			return err
		}
		found, err := sections(page)
		if err := page.Close(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		language, name := filepath.Base(filepath.Dir(path)), filepath.Base(path)
		if sets[language] == nil {
			sets[language] = make(judged.Set)
		}
		for _, heading := range found {
			sets[language].Add(heading, base+language+"/"+name)
			if languages[heading] == nil {
				languages[heading] = make(map[string]bool)
			}
			languages[heading][language] = true
		}
	}
	for language, set := range sets {
		for heading := range set {
			if len(languages[heading]) > 1 {
				delete(set, heading)
			}
		}
		if err := set.Write(filepath.Join(out, language) + "/"); err != nil {
			return err
		}
	}
	return nil
}

// numbered matches the number before the text of a heading, such as "14.2.1. ".
var numbered = regexp.MustCompile(`^[0-9A-Z]+(\.[0-9]+)+\.?\s*`)

// sections returns the headings of the sections within a page, but not the heading of the page
// itself. It removes the numbers before them, such as "14.2.1. ".
func sections(page io.Reader) (headings []string, err error) {
	document, err := goquery.NewDocumentFromReader(page)
	if err != nil {
		return nil, err
	}
	document.Find("h3.title, h4.title").Each(func(_ int, heading *goquery.Selection) {
		text := numbered.ReplaceAllString(strings.Join(strings.Fields(heading.Text()), " "), "")
		if text != "" {
			headings = append(headings, text)
		}
	})
	return headings, nil
}
