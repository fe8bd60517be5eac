package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

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

// TestMeterJSON checks that the meter prints the progress as JSON, one line every five seconds, with the
// functions that fail, or with the error if the progress cannot be read.
func TestMeterJSON(t *testing.T) {
	var out strings.Builder
	m := newMeter(&out)
	m.json = true
	turn := system.Turn{Next: frontier.Next{Host: "a.example", At: time.Date(2026, 11, 26, 9, 30, 0, 0, time.UTC)}}
	show(m, []step{
		{1, system.Progress{Waiting: 1, Failing: []string{"pack fails"}}, nil},
		{4.5, system.Progress{Stored: 9, Arrived: 2, Waiting: 7, Leased: 3, Searchable: 8, Turn: turn, Failing: []string{"pack fails"}}, nil},
		{1, system.Progress{Stored: 10}, nil},
		{5, system.Progress{}, frontier.ErrNotBuilt},
	})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	const first = `{"kind":"progress","seconds":5.5,"fetched":11,"searchable":8,"waiting":8,"skipped":0,"failed":0,"unpacked_batches":0,"unindexed_packages":0,` +
		`"host":"a.example","next_request":"2026-11-26T09:30:00Z","failing":["pack fails"]}`
	if len(lines) != 2 || lines[0] != first || !strings.Contains(lines[1], `"error":"`) {
		t.Errorf("lines:\n%s\nwant two, the first\n%s", out.String(), first)
	}
}
