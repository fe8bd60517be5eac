package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// A failure is printed in full as soon as a report has it. It is printed again only if it comes
// back after a report without it.
func TestMeterTellsOnceWhatFails(t *testing.T) {
	const lost, away = "the generations are lost; run it", "pack fails: no luck"
	var out bytes.Buffer
	show(newMeter(&out), []step{
		{1, system.Progress{Waiting: 1, Failing: []string{lost}}, nil},
		{1, system.Progress{Waiting: 1, Failing: []string{lost}}, nil},
		{1, system.Progress{Failing: []string{lost, away}}, partition.BooksFault(errors.New("lost"))},
		{3, system.Progress{Failing: []string{lost}}, partition.BooksFault(errors.New("lost"))},
		{1, system.Progress{Waiting: 1}, nil},
		{1, system.Progress{Waiting: 1, Failing: []string{lost}}, nil},
	})
	want := "0:01  " + lost + "\n0:03  " + away + "\n0:06  waiting for a repair of the bucket\n0:08  " + lost + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// Work that takes longer than the time between two lines is told in a line, but not in JSON.
func TestMeterDuringWork(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		m, ticks, failure := newMeter(&out), make(chan time.Time), errors.New("no luck")
		m.json, m.now, m.tick = asJSON, func() time.Time { return m.began.Add(65 * time.Second) }, func(time.Duration) <-chan time.Time { return ticks }
		want := ""
		err := m.during("merging", func() error {
			if !asJSON {
				ticks <- time.Time{}
				want = "1:05  merging\n"
			}
			return failure
		})
		if err != failure || out.String() != want {
			t.Errorf("JSON %v: the work ended with %v, and %q was shown, want %q", asJSON, err, out.String(), want)
		}
	}
}

// step is one report of system.Wait: the progress or an error. The field after is the number of
// seconds between this report and the one before.
type step struct {
	after    float64
	progress system.Progress
	err      error
}

func show(m *crawlMeter, steps []step) {
	now := m.began
	m.now = func() time.Time { return now }
	for _, s := range steps {
		now = now.Add(time.Duration(s.after * float64(time.Second)))
		m.show(s.progress, s.err)
	}
	m.end()
}

func crawlSteps() []step {
	notBuilt, away := fmt.Errorf("front: %w", frontier.ErrNotBuilt), errors.New("store is away")
	return []step{
		{0, system.Progress{}, notBuilt},
		{1, system.Progress{Stored: 100, Waiting: 1}, nil},
		{4, system.Progress{Stored: 140, Waiting: 7, Leased: 3, Packages: 1, Documents: 50, Searchable: 50}, nil},
		{1, system.Progress{Stored: 150, Waiting: 7}, nil},
		{5, system.Progress{}, away},
		{5, system.Progress{}, away},
		{5, system.Progress{}, notBuilt},
		{5, system.Progress{Stored: 200, Unpacked: 2, Packages: 1}, nil},
		{5, system.Progress{Stored: 200, Packages: 3, Unindexed: 2, Documents: 50}, nil},
		{5, system.Progress{Stored: 200, Packages: 3, Documents: 200}, nil},
		{5, system.Progress{Stored: 200, Waiting: 20, Again: 15, Packages: 3, Documents: 200, Searchable: 190}, nil},
		{5, system.Progress{Stored: 200, Gone: 2, Packages: 3, Documents: 200}, nil},
	}
}

func TestMeterPlain(t *testing.T) {
	var out bytes.Buffer
	m := newMeter(&out)
	show(m, crawlSteps())
	want := `0:05  140 pages fetched, 50 searchable, 10 waiting · 10 pages/s
0:11  waiting: store is away
0:21  rebuilding the frontier from the bucket
0:26  packing: 2 batches left · 200 pages
0:31  indexing: 1 of 3 packages · 50 documents
0:36  indexing: 3 of 3 packages · 200 documents
0:41  200 pages fetched, 190 searchable, 20 waiting (15 again) · 4 pages/s
0:46  leaving the index: 2 pages
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got := m.rate(); got != 4 {
		t.Errorf("%v pages/s, want 4: 100 pages in the 25 s until no URL was left", got)
	}
}

func TestMeterTerminal(t *testing.T) {
	var out bytes.Buffer
	m := newMeter(&out)
	m.width, m.shown = func() int { return 20 }, time.Time{}
	show(m, crawlSteps()[:2])
	const clear = "\r\x1b[K"
	if want := clear + "0:00  starting" + clear + "0:01  100 pages fet" + clear; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestMeterSaysNothingOfAMoment(t *testing.T) {
	var out bytes.Buffer
	show(newMeter(&out), []step{{0.1, system.Progress{}, nil}, {4, system.Progress{Stored: 9}, nil}})
	if out.Len() > 0 {
		t.Errorf("said %q", out.String())
	}
}

func TestText(t *testing.T) {
	var got []string
	for _, n := range []int64{0, 1023, 1024, 1 << 20, 3 << 29, 1 << 40, 1 << 50} {
		got = append(got, bytesText(n))
	}
	got = append(got, count(0, "page"), count(1, "page"), count(2, "page"), clock(61*time.Second), clock(2*time.Hour))
	want := "0 B|1023 B|1.0 KiB|1.0 MiB|1.5 GiB|1.0 TiB|1024.0 TiB|0 pages|1 page|2 pages|1:01|120:00"
	if diff := cmp.Diff(want, strings.Join(got, "|")); diff != "" {
		t.Error(diff)
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
