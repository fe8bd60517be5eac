package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/blobtest"
)

// TestScale crawls two tiny webs, and measures all operations. costsOf checks the results: each page is stored
// and indexed, queries find something, and verify finds no problem.
func TestScale(t *testing.T) {
	var g growth
	for _, pages := range []int{100, 400} {
		costs, err := costsOf(t.Context(), pages, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range operations {
			c := costs[o.name]
			if c == nil {
				if o.name != "merge" { // so few segments are not merged
					t.Errorf("%d pages: %s has no cost", pages, o.name)
				}
				continue
			}
			if c.calls == 0 || (c.requests == 0) != (o.name == "warm query") {
				t.Errorf("%d pages: %s: %+v", pages, o.name, *c)
			}
		}
		g.add(pages, costs)
	}
	table := g.table()
	for _, want := range []string{"\n| fetch, a page | ", "\n| forget, a call | ", " → "} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	d := xml.NewDecoder(strings.NewReader(string(g.draw())))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestExponent(t *testing.T) {
	for _, c := range []struct {
		amounts []float64
		want    float64
		known   bool
	}{
		{[]float64{5, 5, 5}, 0, true},
		{[]float64{3, 30, 300}, 1, true},
		{[]float64{8, 0.8, 0.08}, -1, true},
		{[]float64{1, math.Sqrt(10), 10}, 0.5, true},
		{[]float64{1, 2, 1}, 0, true}, // the middle one does not change the slope
		{[]float64{0, 1, 2}, 0, false},
		{[]float64{1}, 0, false},
		{nil, 0, false},
	} {
		got, known := exponent([]int{10, 100, 1000}, c.amounts)
		if math.Abs(got-c.want) > 1e-9 || known != c.known {
			t.Errorf("%v: %g, %v, want %g, %v", c.amounts, got, known, c.want, c.known)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int // nil: an error
	}{
		{"7", []int{7}},
		{"10000,100000", []int{10_000, 100_000}},
		{"", nil}, {"0", nil}, {"ten", nil}, {"20,10", nil}, {"10,10", nil}, {"10,", nil}, {"1000000000", nil},
	} {
		got, err := parseSizes(c.text)
		if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) != (c.want != nil) {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.001234: ".00123", 0.12: ".120", 1.234: "1.23", 56.78: "56.8", 123: "123", 12345.6: "12346"} {
		if got := number(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}

// TestWeb checks that a web has as many pages as it should, each under an address of its own and always the same,
// and that addresses of other kinds have the answers that they should have.
func TestWeb(t *testing.T) {
	const pages = 1000
	w := newWeb(pages, func() {})
	if len(w.sizes) != pages/pagesOfSite || w.sizes[0] < 2*w.sizes[len(w.sizes)-1] || w.pages() != pages {
		t.Errorf("sites of %v pages", w.sizes)
	}
	seen := make(map[string]bool)
	for site, size := range w.sizes {
		for page := range size {
			status, body, _ := w.answer(w.hosts[site], path(site, page))
			_, again, _ := w.answer(w.hosts[site], path(site, page))
			if status != http.StatusOK || body != again || !strings.Contains(body, title(site, page)) {
				t.Fatalf("%s: %d %s", w.url(site, page), status, body)
			}
			seen[w.url(site, page)] = true
		}
	}
	if len(seen) != pages {
		t.Errorf("%d addresses", len(seen))
	}
	for at, want := range map[string]int{"/robots.txt": 200, "/missing-7.html": 404, "/moved-27.html": 301, "/private/47.html": 404, "/other-999999.html": 404} {
		if status, _, _ := w.answer(w.hosts[0], at); status != want {
			t.Errorf("%s: %d, want %d", at, status, want)
		}
	}
	if status, _, _ := w.answer("elsewhere.example", "/"); status != http.StatusNotFound {
		t.Errorf("an unknown host: %d", status)
	}
}

func TestStore(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Bucket {
		s, err := newStore(t.TempDir(), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}

// TestSavedStore saves a store and opens it again. Objects that were deleted must not be in its file any more.
func TestSavedStore(t *testing.T) {
	name := filepath.Join(t.TempDir(), "saved")
	if _, found, err := openStore(name, time.Now); found || err != nil {
		t.Fatalf("a store that was never saved: %v, %v", found, err)
	}
	s, err := newStore(t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, key := range []string{"deleted", "b", "a"} {
		if err := s.Create(t.Context(), key, []byte("the content of "+key)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Delete(t.Context(), "deleted"), s.save(name)); err != nil {
		t.Fatal(err)
	}
	opened, found, err := openStore(name, time.Now)
	if !found || err != nil {
		t.Fatal(found, err)
	}
	defer opened.Close()
	for key, want := range map[string]error{"a": nil, "b": nil, "deleted": blob.ErrAbsent} {
		content, err := opened.Get(t.Context(), key, blob.Range{})
		if !errors.Is(err, want) || err == nil && string(content) != "the content of "+key {
			t.Errorf("%s: %q, %v", key, content, err)
		}
	}
	if file, err := os.Stat(name); err != nil || file.Size() != int64(2*len("the content of a")) {
		t.Errorf("the file is %v, %v", file, err)
	}
}
