package main

import (
	"strings"
	"testing"
	"time"

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
