package main

import (
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/command/why"
	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// The command status does not show processes that have not reported of late with 0 bytes of memory and 0 goroutines:
// they have ended, or have nothing to do.
func TestStatusOfProcessesThatHaveEnded(t *testing.T) {
	var out strings.Builder
	ended := vitals.Group{Name: "pack", Workers: 1, Process: vitals.Process{Received: 1 << 20}}
	printSigns(&out, vitals.Signs{Functions: []vitals.Sign{{Function: "pack"}}, Processes: []vitals.Group{ended}})
	if got := out.String(); !strings.Contains(got, "pack in 1 process: 0.00 processors, idle or ended by now; network 1.0 MiB in") || strings.Contains(got, "0 goroutines") {
		t.Errorf("status is\n%s", got)
	}
}

// TestWhyOfWhatWasKept checks what the command why says of a stored page whose last request failed:
// that the stored page is kept. After a first 404 it must add that the page is kept only until a second
// 404 in a row.
func TestWhyOfWhatWasKept(t *testing.T) {
	at := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		asked why.Asked
		want  string
	}{
		{why.Asked{At: at, State: book.Unchanged, Reason: "http 404", Detail: "Not Found", Status: 404, Attempt: 1},
			"not to be had, and kept as it was stored until that comes a second time in a row: http 404 (Not Found), status 404"},
		{why.Asked{At: at, State: book.Unchanged, Reason: "timeout", Attempt: 3}, "attempt 3: not to be had, and kept as it was stored: timeout"},
		{why.Asked{At: at, State: book.Unchanged, Status: 304, Attempt: 1}, "attempt 1: unchanged, status 304"},
	} {
		var out strings.Builder
		printStory(&out, why.Story{State: "stored", Asked: []why.Asked{c.asked}}, "", new(location))
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("want %q in\n%s", c.want, &out)
		}
	}
}

func TestPageThatIsGone(t *testing.T) {
	page := engine.Copy{Gone: &book.Outcome{Time: time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC), Reason: "http 404", Detail: "Not Found"}}
	page.Downloaded = page.Gone.Time.AddDate(0, 0, -2)
	const want = "This page is gone, at the latest since 2026-11-23 06:00:00 UTC (http 404 Not Found); this is the copy of 2026-11-21 06:00:00 UTC."
	if got := goneText(page); got != want {
		t.Errorf("got %q", got)
	}
}

func TestStatusTellsWhoseSitemapsWait(t *testing.T) {
	var out strings.Builder
	printStatus(&out, system.Status{Crowded: []string{"a.example", "b.example"}, MaxWaiting: 10_000})
	if want := "sitemaps of 2 hosts wait, for more than 10000 URLs wait there already, or 1000000 in all: a.example, b.example\n"; !strings.Contains(out.String(), want) {
		t.Errorf("status is\n%swant in it\n%s", out.String(), want)
	}
}

// TestStatusTellsWhatIsUncounted: the share of URLs that are not counted yet is a whole percentage.
func TestStatusTellsWhatIsUncounted(t *testing.T) {
	for share, want := range map[float64]string{0: "", 1e-9: "less than 1 %", 0.07: "some 7 %", 0.999: "some 99 %", 1: "some 100 %"} {
		var out strings.Builder
		tellUncounted(&out, system.Status{Uncounted: share})
		if want != "" {
			want += " of the URLs are still being counted, and missing in these numbers\n"
		}
		if out.String() != want {
			t.Errorf("%v: %q, want %q", share, out.String(), want)
		}
	}
}

func TestStatusTellsWhatIsFetched(t *testing.T) {
	var out strings.Builder
	status := system.Status{Processes: 2, Unpacked: 3, Unindexed: 4, Next: &frontier.Next{Host: "z.example", At: time.Date(2999, 1, 1, 9, 30, 0, 0, time.UTC)}}
	for _, host := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		status.Fetching = append(status.Fetching, system.FetchingHost{Host: host + ".example", URLs: len(status.Fetching) + 1, Until: time.Date(2026, 11, 26, 9, 30, 0, 0, time.UTC)})
	}
	printStatus(&out, status)
	for _, want := range []string{
		"2 processes fetch for this bucket\n", " 1 URL of a.example is being fetched, leased until 09:30:00 UTC\n", " 5 URLs of e.example are being fetched", " and URLs of 2 more hosts\n",
		" next request to z.example at 09:30:00 UTC\n", "7 pages cannot be searched yet: 3 to be packed, 4 to be indexed\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("status is\n%swant in it\n%s", out.String(), want)
		}
	}
}

func TestStatusTellsWhatIsNotVisited(t *testing.T) {
	for want, status := range map[string]system.Status{
		"3 URLs without a stored page, found by the texts of links to them\n":                                       {Unvisited: 3},
		"1 URL without a stored page, found by the texts of links to them, without 2 more, as there are too many\n": {Unvisited: 1, UnvisitedCut: 2},
	} {
		var out strings.Builder
		printStatus(&out, status)
		if !strings.Contains(out.String(), want) {
			t.Errorf("status is\n%swant in it\n%s", out.String(), want)
		}
	}
}
