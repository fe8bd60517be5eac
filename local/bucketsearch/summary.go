package main

import (
	"fmt"
	"io"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/account"
)

// printSummary prints the result of a crawl. The parameter took is the duration of the crawl. The
// number of pages stored per second comes from the meter m.
func printSummary(out io.Writer, s system.Summary, took time.Duration, m *crawlMeter) {
	fmt.Fprint(out, count(s.New, "page"))
	if s.NewAssets > 0 {
		fmt.Fprintf(out, " and %s", count(s.NewAssets, "asset"))
	}
	fmt.Fprintf(out, " stored in %s", took.Round(100*time.Millisecond))
	if rate := m.rate(); rate > 0 {
		fmt.Fprintf(out, " (%.0f pages/s while crawling)", rate)
	}
	if s.Unchanged > 0 {
		fmt.Fprintf(out, "; %s asked for again and unchanged", count(s.Unchanged, "page"))
	}
	if s.Kept > 0 {
		fmt.Fprintf(out, "; %s asked for again in vain (%s) and kept", count(s.Kept, "page"), explained(s.Why))
	}
	fmt.Fprintln(out, "\n\nThe bucket now holds:")
	printStatus(out, s.Status)
	printSeeds(out, s)
	if m.last.Parked > 0 && s.Pending > 0 {
		fmt.Fprintf(out, "Stopped at the limit of pages (--pages, or pages of a collection); another crawl without it goes on with the %s that wait.\n", count(s.Pending, "URL"))
	}
	if m.last.Dead > 0 {
		fmt.Fprintf(out, "%s failed in all their tries; bucketsearch status shows why, bucketsearch resend tries again.\n", count(m.last.Dead, "message"))
	}
	printAdvice(out, s.Status, "")
}

// printAdvice prints warnings, and what to do next. The parameter home is the address of the search
// page; "" if none is served.
func printAdvice(out io.Writer, s system.Status, home string) {
	for _, warning := range warnings(s) {
		fmt.Fprintln(out, "warning:", warning)
	}
	fmt.Fprintln(out, next(s, home))
}

// printSeeds prints a line for each seed that led to no stored page, with the reason.
func printSeeds(out io.Writer, s system.Summary) {
	for _, seed := range s.Seeds {
		if told := fate(seed); told != "" {
			fmt.Fprintln(out, told)
		}
	}
}

// fate returns a sentence that says why a seed led to no page, and what to do. It returns ""
// if the seed led to a page, or still waits.
func fate(f system.Fate) string {
	u, told := f.Final, f.Seed
	if f.Redirected() {
		told += " leads to " + u.Address.URL + ", which"
	}
	switch {
	case f.Stored(), u.State == account.Pending:
		return ""
	case f.Redirected() && u.State == account.Skipped && u.Final.State == 0:
		return fmt.Sprintf("%s is left out: %s; to crawl it: bucketsearch crawl %s", told, explained(u.Reason), quoted(u.Address.URL))
	case u.Reason == "robots":
		return told + " is not stored: robots.txt there forbids it"
	case u.Final.Detail == "":
		return fmt.Sprintf("%s is not stored: %s", told, explained(u.Reason))
	}
	return fmt.Sprintf("%s is not stored: %s (%s)", told, u.Reason, u.Final.Detail)
}

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
