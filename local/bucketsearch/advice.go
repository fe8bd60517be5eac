package main

import (
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// warnings returns sentences on pages of the bucket that a person may look at after a crawl:
//
//	pages that need scripts   searches find hardly any of their words
//	URLs that have failed     by the command that lists them
func warnings(s system.Status) (all []string) {
	if n := s.Remarks[book.NeedsScripts]; n > 0 {
		shows, them := "show", "them"
		if n == 1 {
			shows, them = "shows", "it"
		}
		all = append(all, fmt.Sprintf("%d of %s %s hardly any text without running scripts, which bucketsearch does not, so that searches find little of %s; for the addresses: bucketsearch urls --state stored --reason %q",
			n, count(s.Stored, "stored page"), shows, them, book.NeedsScripts))
	}
	failed := 0
	for _, n := range s.Failed {
		failed += n
	}
	if failed > 0 {
		all = append(all, fmt.Sprintf("%s failed; for the addresses: bucketsearch urls --state failed", count(failed, "URL")))
	}
	return all
}

// next returns a sentence that says what to do after a crawl. The parameter home is the address of
// the search page; "" if none is served.
func next(s system.Status, home string) string {
	switch {
	case s.Documents == 0 && s.Stored == 0:
		return "Nothing is stored. For the reason of an address: bucketsearch why URL"
	case s.Documents == 0:
		return "Nothing can be searched, for no stored page has text that may be indexed. For the reason of an address: bucketsearch why URL"
	case home != "":
		return "To search: " + home
	}
	return "To search: bucketsearch search WORDS; with a browser: bucketsearch up"
}
