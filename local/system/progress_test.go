package system

import "testing"

func TestDone(t *testing.T) {
	for _, c := range []struct {
		name          string
		progress      Progress
		crawled, done bool
	}{
		{"nothing to do", Progress{}, true, true},
		{"a URL waits", Progress{Waiting: 1}, false, false},
		{"a URL is out", Progress{Leased: 1}, false, false},
		{"stopped by a number of pages", Progress{Parked: 7}, true, true},
		{"a stored page waits", Progress{Parked: 7, Waiting: 1, Again: 1}, false, false},
		{"the last batches before it stops", Progress{Parked: 7, Leased: 1}, false, false},
		{"not packed", Progress{Unpacked: 1}, true, false},
		{"gone, and still found", Progress{Gone: 1}, true, false},
		{"not indexed", Progress{Packages: 2, Unindexed: 1}, true, false},
		{"small packages not indexed together", Progress{Packages: 2, Apart: 1}, true, false},
		{"all failed", Progress{Failed: 3, Skipped: 4}, true, true},
	} {
		if c.progress.Crawled() != c.crawled || c.progress.Done() != c.done {
			t.Errorf("%s: crawled %v, done %v; want %v, %v", c.name, c.progress.Crawled(), c.progress.Done(), c.crawled, c.done)
		}
	}
}
