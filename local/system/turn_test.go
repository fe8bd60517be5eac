package system

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

var clockStart = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func turn(host string, at time.Time, more int) Turn {
	return Turn{Next: frontier.Next{Host: host, At: at}, More: more}
}

func TestProgressText(t *testing.T) {
	at := func(d time.Duration) time.Time { return clockStart.Add(d) }
	for _, c := range []struct {
		progress Progress
		want     string
	}{
		{Progress{Waiting: 1}, "0 pages fetched, 0 searchable, 1 waiting"},
		{Progress{Stored: 1, Leased: 3, Searchable: 1, Turn: turn("a.example", time.Time{}, 0)}, "1 page fetched, 1 searchable, 3 waiting, asking a.example"},
		// 11 pages of a batch of 40 have arrived.
		{Progress{Stored: 30, Arrived: 11, Waiting: 5, Leased: 40, Searchable: 30, Turn: turn("a.example", at(900*time.Millisecond), 0)},
			"41 pages fetched, 30 searchable, 34 waiting, next request to a.example in 1 s"},
		{Progress{Waiting: 5, Again: 2, Turn: turn("a.example", at(90*time.Second), 0)}, "0 pages fetched, 0 searchable, 5 waiting (2 again), next request to a.example in 90 s"},
		{Progress{Waiting: 5, Turn: turn("a.example", at(time.Hour), 0)}, "0 pages fetched, 0 searchable, 5 waiting, next request to a.example at 13:00:00 UTC"},
		{Progress{Leased: 2, Turn: turn("a.example", time.Time{}, 3), Silent: []string{"b.example", "c.example"}},
			"0 pages fetched, 0 searchable, 2 waiting, b.example and 1 more do not answer, asking a.example and 3 more"},
		{Progress{Stored: 9, Waiting: 5, Paused: "a person", Silent: []string{"b.example"}}, "9 pages fetched, 0 searchable, 5 waiting, b.example does not answer, paused: a person"},
		{Progress{Stored: 9, Unpacked: 1, Searchable: 5}, "9 pages fetched, 5 searchable, the others are being indexed"},
	} {
		if diff := cmp.Diff(c.want, c.progress.Text(clockStart)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.progress, diff)
		}
	}
}

func TestTurnOfBatches(t *testing.T) {
	waits := func(host string, seconds int) fetch.Moment {
		return fetch.Moment{Host: host, Next: clockStart.Add(time.Duration(seconds) * time.Second)}
	}
	for _, c := range []struct {
		batches []fetch.Moment
		want    Turn
	}{
		{nil, Turn{}},
		{[]fetch.Moment{waits("a", 5), waits("b", 2), waits("c", 9)}, turn("b", clockStart.Add(2*time.Second), 0)},
		{[]fetch.Moment{waits("a", 5), {Host: "c"}, {Host: "b"}, {Host: "c"}}, turn("b", time.Time{}, 1)},
	} {
		if diff := cmp.Diff(c.want, turnOf(c.batches)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.batches, diff)
		}
	}
}

// TestFetches checks that only the last state of a batch counts, only batches that are asked for are
// returned, and batches that have long ended are dropped.
func TestFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f fetches
		batch := func(token uint64) layout.Version { return layout.Version{Epoch: 1, Token: token} }
		for pages := range 3 {
			f.hear(fetch.Moment{Batch: batch(1), Pages: pages})
			f.hear(fetch.Moment{Batch: batch(2), Pages: 7})
		}
		want := []fetch.Moment{{Batch: batch(1), Pages: 2}}
		if diff := cmp.Diff(want, f.of([]layout.Version{batch(1), batch(9)})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		time.Sleep(time.Hour)
		f.hear(fetch.Moment{Batch: batch(3)})
		if len(f.batches) != 1 {
			t.Errorf("%d batches are kept, want the last", len(f.batches))
		}
	})
}
