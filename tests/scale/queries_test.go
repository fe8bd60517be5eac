package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// TestQueries measures queries in two tiny webs, twice: the second time in the indexes that the first has kept. Warm
// queries must make no requests. Then it checks that queries of all kinds find something, and that titles of pages at
// the beginning and end of the web are suggested.
func TestQueries(t *testing.T) {
	q := inquiry{warm: 6, cold: 2, firstByte: time.Microsecond}
	dir := t.TempDir()
	for range 2 {
		table, err := measureQueries(t.Context(), []int{400, 1000}, dir, q)
		if err != nil {
			t.Fatal(err)
		}
		table, ofLeaves, _ := strings.Cut(table, "\n\n")
		if n := strings.Count(ofLeaves, " → "); n != 4*3 {
			t.Errorf("%d figures of four kinds of queries in leaves, want three each:\n%s", n, ofLeaves)
		}
		rows := strings.Split(strings.TrimSpace(table), "\n")[2:]
		if len(rows) != len(kinds) {
			t.Fatalf("%d rows, want %d, in\n%s", len(rows), len(kinds), table)
		}
		for _, row := range rows {
			cells := strings.Split(row, "|")
			if len(cells) != len(figures)+3 || !strings.Contains(row, " → ") || strings.TrimSpace(cells[6]) != "0 → 0" {
				t.Errorf("%d cells, requests of warm queries: %s, in\n%s", len(cells), cells[6], row)
			}
		}
	}
	w := newWeb(1000, func() {})
	kept, err := keptIndex(t.Context(), w, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close() //nolint:errcheck // nothing is written
	e, err := q.engine(kept)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		texts := k.texts(w, 5)
		for _, text := range texts {
			if found, err := k.ask(t.Context(), e, text); err != nil || found == 0 {
				t.Errorf("%s: %q finds %d, %v", k.name, text, found, err)
			}
		}
		if len(texts) == 0 {
			t.Errorf("%s: there are no queries", k.name)
		}
	}
	for _, at := range []place{{0, 0}, {0, w.sizes[0] - 1}, {len(w.sizes) - 1, 3}} {
		name := title(at.site, at.page)
		found, err := e.Suggest(t.Context(), search.Suggesting{Text: name, Size: 10})
		if err != nil || !slices.ContainsFunc(found, func(s search.Suggestion) bool { return s.Text == name }) {
			t.Errorf("%q is not suggested: %v, %v", name, found, err)
		}
	}
}
