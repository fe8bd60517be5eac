package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// TestSummaryOfRecrawl: the summary of a second crawl does not count pages as unchanged if
// their host did not answer.
func TestSummaryOfRecrawl(t *testing.T) {
	var out strings.Builder
	printSummary(&out, system.Summary{New: 1, Unchanged: 2, Kept: 3, Why: "refused"}, 2*time.Second, &crawlMeter{now: time.Now})
	first, rest, _ := strings.Cut(out.String(), "\n")
	if want := "1 page stored in 2s; 2 pages asked for again and unchanged; 3 pages asked for again in vain ("; !strings.HasPrefix(first, want) {
		t.Errorf("summary begins with %q, want %q", first, want)
	}
	if !strings.HasPrefix(rest, "\nThe bucket now holds:\n") {
		t.Errorf("and goes on with %q", rest)
	}
}

func TestAdvice(t *testing.T) {
	const home = "http://127.0.0.1:8080/"
	for _, c := range []struct {
		status     system.Status
		home, want string
	}{
		{system.Status{}, "", "Nothing is stored. For the reason of an address: bucketsearch why URL\n"},
		{system.Status{Stored: 2}, home, "Nothing can be searched, for no stored page has text that may be indexed. For the reason of an address: bucketsearch why URL\n"},
		{system.Status{Stored: 2, Documents: 2}, home, "To search: " + home + "\n"},
		{system.Status{Stored: 3, Documents: 3, Remarks: map[string]int{book.NeedsScripts: 1, book.Cut: 2}, Failed: map[string]int{"http 404": 2, "timeout": 3}}, "",
			`warning: 1 of 3 stored pages shows hardly any text without running scripts, which bucketsearch does not, so that searches find little of it; for the addresses: bucketsearch urls --state stored --reason "needs scripts"
warning: 5 URLs failed; for the addresses: bucketsearch urls --state failed
To search: bucketsearch search WORDS; with a browser: bucketsearch up
`},
	} {
		var out strings.Builder
		printAdvice(&out, c.status, c.home)
		if diff := cmp.Diff(c.want, out.String()); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.status, diff)
		}
	}
}
