package judgment_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

const (
	stork = "https://example.org/stork"
	heron = "https://example.org/heron?a=1&b=2"
	owl   = "https://owls.example/"
)

var (
	noon   = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	birds  = judgment.Query{Text: "white birds <&>", Lang: []string{"de", "en"}, After: noon.AddDate(-1, 0, 0)}
	nobody = &takedown.Set{}
)

// sheet returns a sheet with the marks (grades of pages) that a judge gave the given number of
// minutes after noon.
func sheet(judge string, minutes int, marks ...judgment.Mark) judgment.Sheet {
	return judgment.Sheet{Judge: judge, At: noon.Add(time.Duration(minutes) * time.Minute), Query: birds, Marks: marks}
}

func put(t *testing.T, bucket blob.Bucket, sheets ...judgment.Sheet) {
	t.Helper()
	for _, s := range sheets {
		if err := judgment.Put(t.Context(), bucket, s); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSheet(t *testing.T) {
	s := sheet("ann", 0, judgment.Mark{stork, 3}, judgment.Mark{heron, judgment.Withdrawn})
	s.At = s.At.Add(1234567)
	key, content, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":1,"judge":"ann","at":"2026-11-24T12:00:00.001Z",` +
		`"query":{"text":"white birds <&>","lang":["de","en"],"after":"2025-11-24T12:00:00Z"},` +
		`"marks":[{"url":"https://example.org/heron?a=1&b=2","grade":-1},{"url":"https://example.org/stork","grade":3}]}`
	if string(content) != want {
		t.Errorf("got  %s\nwant %s", content, want)
	}
	if layout.IsForeign(key) || !strings.HasPrefix(key, layout.JudgmentPrefix(birds.Hash())) {
		t.Errorf("key %s", key)
	}
	read, err := judgment.Decode(key, content)
	if err != nil {
		t.Fatal(err)
	}
	again, same, err := read.Encode()
	if err != nil || again != key || string(same) != string(content) {
		t.Errorf("read and written again: %s %s, %v", again, same, err)
	}
	turned := birds
	turned.Lang, turned.After = []string{"en", "de", "en"}, birds.After.In(time.FixedZone("", 3600))
	if turned.Hash() != birds.Hash() {
		t.Error("the order of filters, or the zone of a time, makes another query")
	}
}

func TestBadSheets(t *testing.T) {
	for want, change := range map[string]func(*judgment.Sheet){
		"no name of a judge":   func(s *judgment.Sheet) { s.Judge = "a b" },
		"it has no time":       func(s *judgment.Sheet) { s.At = time.Time{} },
		"query has 0 bytes":    func(s *judgment.Sheet) { s.Query.Text = "" },
		"query has 4097 bytes": func(s *judgment.Sheet) { s.Query.Text = strings.Repeat("a", 4097) },
		"it has 0 marks":       func(s *judgment.Sheet) { s.Marks = nil },
		"it has 101 marks":     func(s *judgment.Sheet) { s.Marks = make([]judgment.Mark, 101) },
		"no canonical address": func(s *judgment.Sheet) { s.Marks[0].URL = "HTTPS://example.org" },
		"the grade is 4":       func(s *judgment.Sheet) { s.Marks[0].Grade = 4 },
		"not after":            func(s *judgment.Sheet) { s.Marks = append(s.Marks, s.Marks[0]) },
		"want at most":         func(s *judgment.Sheet) { s.Query.Site = []string{strings.Repeat("a", 1<<20)} },
	} {
		s := sheet("ann", 0, judgment.Mark{stork, 1})
		change(&s)
		if _, _, err := s.Encode(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	newer := []byte(`{"version":2,"by":"ann"}`)
	key := layout.JudgmentKey(birds.Hash(), newer)
	if _, err := judgment.Decode(key, newer); !errors.Is(err, judgment.ErrNewer) || judgment.Check(key, newer) != nil {
		t.Errorf("a newer version: %v, %v", err, judgment.Check(key, newer))
	}
	_, content, err := sheet("ann", 0, judgment.Mark{stork, 1}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := judgment.Check(layout.JudgmentKey(layout.ContentHash(nil), content), content); err == nil {
		t.Error("judgments of another query are read")
	}
}

// TestWhatCounts checks that the latest mark of a judge for a page counts, and that the grade of a page
// is the mean of several judges' grades.
func TestWhatCounts(t *testing.T) {
	bucket := memblob.New()
	late := sheet("ann", 9, judgment.Mark{stork, 2}, judgment.Mark{owl, judgment.Withdrawn})
	put(t, bucket, late,
		sheet("ann", 1, judgment.Mark{stork, 0}, judgment.Mark{owl, 3}, judgment.Mark{heron, 0}),
		sheet("bob", 1, judgment.Mark{stork, 3}, judgment.Mark{heron, 1}), late)
	if keys := functionstest.Keys(t, bucket, layout.Judgments); len(keys) != 3 {
		t.Errorf("objects %v", keys)
	}
	other := sheet("ann", 1, judgment.Mark{stork, 1})
	other.Query = judgment.Query{Text: "a bird"}
	put(t, bucket, other)
	judged, unread, err := judgment.Of(t.Context(), bucket, birds, nobody)
	if err != nil || len(unread) > 0 {
		t.Fatal(err, unread)
	}
	for name, want := range map[string]map[string]int{"ann": {stork: 2, heron: 0}, "bob": {stork: 3, heron: 1}, "eve": {}} {
		if diff := cmp.Diff(want, judged.By(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(map[string]int{stork: 3, heron: 1}, judged.Grades()); diff != "" {
		t.Errorf("grades (-want +got):\n%s", diff)
	}
	all, _, err := judgment.All(t.Context(), bucket, nobody)
	if err != nil || len(all) != 2 || all[0].Query.Text != "a bird" || !maps.Equal(all[1].Grades(), judged.Grades()) {
		t.Errorf("all: %+v, %v", all, err)
	}
}

// forgotten publishes the takedown (the removal) of a URL and of a site, and returns the set of
// takedowns.
func forgotten(t *testing.T, bucket blob.Bucket) *takedown.Set {
	t.Helper()
	a, err := address.Parse(heron)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takedown.Forget(t.Context(), bucket, takedown.URL(a, noon), takedown.Site("owls.example", noon)); err != nil {
		t.Fatal(err)
	}
	set, err := takedown.Load(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	return &set
}

// TestErase runs Erase twice: the first run fails at one of its calls to the store, each call in
// turn. Marks for pages that no takedown covers must be there after both runs. After the second
// run, all other marks must be gone.
func TestErase(t *testing.T) {
	pasted := sheet("ann", 3, judgment.Mark{stork, 0})
	pasted.Query = judgment.Query{Text: heron}
	sheets := []judgment.Sheet{
		sheet("ann", 0, judgment.Mark{stork, 3}, judgment.Mark{heron, 2}, judgment.Mark{owl, 1}),
		sheet("ann", 1, judgment.Mark{owl, 1}), sheet("bob", 2, judgment.Mark{stork, 3}), pasted,
	}
	var want []string
	for _, s := range []judgment.Sheet{sheet("ann", 0, judgment.Mark{stork, 3}), sheets[2]} {
		key, _, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, key)
	}
	slices.Sort(want)
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		inner := memblob.New()
		put(t, inner, sheets...)
		set := forgotten(t, inner)
		_, errFirst := judgment.Erase(t.Context(), faultblob.New(inner, decide), set)
		judged, _, err := judgment.Of(t.Context(), inner, birds, set)
		if err != nil || !maps.Equal(judged.Grades(), map[string]int{stork: 3}) {
			t.Errorf("stopped by %v: grades %v, %v", errFirst, judged.Grades(), err)
		}
		if _, err := judgment.Erase(t.Context(), inner, set); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, functionstest.Keys(t, inner, layout.Judgments)); diff != "" {
			t.Errorf("left (-want +got):\n%s", diff)
		}
		if keys, err := judgment.Forgotten(t.Context(), inner, set); err != nil || len(keys) > 0 {
			t.Errorf("forgotten and there: %v, %v", keys, err)
		}
	})
}

// TestDamaged checks that a damaged sheet (grades by a judge) is reported, and that all others are
// still read and erased.
func TestDamaged(t *testing.T) {
	bucket := memblob.New()
	put(t, bucket, sheet("ann", 0, judgment.Mark{stork, 3}, judgment.Mark{heron, 2}))
	damaged := layout.JudgmentKey(birds.Hash(), []byte("{}"))
	functionstest.Put(t, bucket, damaged, []byte("{!"))
	functionstest.Put(t, bucket, layout.JudgmentPrefix(birds.Hash())+"notes.txt", nil)
	judged, unread, err := judgment.Of(t.Context(), bucket, birds, nobody)
	if err != nil || len(unread) != 1 || !strings.Contains(unread[0].Error(), damaged) || len(judged.Grades()) != 2 {
		t.Errorf("%v, unread %v, %v", judged.Grades(), unread, err)
	}
	erased, err := judgment.Erase(t.Context(), bucket, forgotten(t, bucket))
	if erased != 1 || err == nil || !strings.Contains(err.Error(), damaged) {
		t.Errorf("erased %d, %v", erased, err)
	}
}

// TestPutFails lets each call to the store fail in turn. It checks that Put returns an error unless the
// sheet is stored, and that exactly one sheet is stored after a second Put.
func TestPutFails(t *testing.T) {
	s := sheet("ann", 0, judgment.Mark{stork, 3})
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		inner := memblob.New()
		err := judgment.Put(t.Context(), faultblob.New(inner, decide), s)
		stored := functionstest.Keys(t, inner, layout.Judgments)
		if err == nil && len(stored) != 1 || err != nil && !errors.Is(err, blob.ErrRetryable) {
			t.Errorf("%v, stored %v", err, stored)
		}
		put(t, inner, s)
		if stored := functionstest.Keys(t, inner, layout.Judgments); len(stored) != 1 {
			t.Errorf("stored %v", stored)
		}
	})
}

// FuzzDecode checks that a sheet that Decode returns can be encoded and decoded again, with the
// same marks.
func FuzzDecode(f *testing.F) {
	_, content, err := sheet("ann", 0, judgment.Mark{stork, 3}, judgment.Mark{heron, -1}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(`{"version":1,"judge":"b","at":"0001-01-01T00:00:00+23:59","query":{"text":" "},"marks":[]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, hash := range []string{birds.Hash(), layout.ContentHash(content)} {
			s, err := judgment.Decode(layout.JudgmentKey(hash, content), content)
			if err != nil {
				continue
			}
			key, again, err := s.Encode()
			if err != nil {
				t.Fatalf("%s cannot be written: %v", content, err)
			}
			if read, err := judgment.Decode(key, again); err != nil || !cmp.Equal(s.Marks, read.Marks) || s.Query.Hash() != read.Query.Hash() {
				t.Fatalf("%s is written as %s: %v", content, again, err)
			}
		}
	})
}

// TestForgetQueries checks that a query keeps no marks if its text or one of its filters names a URL or
// site that a takedown forgets.
func TestForgetQueries(t *testing.T) {
	parse := func(raw string) address.Address {
		a, err := address.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	bucket := memblob.New()
	for _, entry := range []takedown.Entry{takedown.URL(parse(stork), noon), takedown.Site("owls.example", noon)} {
		if _, err := takedown.Forget(t.Context(), bucket, entry); err != nil {
			t.Fatal(err)
		}
	}
	set, err := takedown.Load(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []judgment.Query{
		{Text: stork}, {Text: "example.org/stork"}, {Text: `big "https://example.org/stork"`}, {Text: "+https://example.org/stork"},
		{Text: "site:owls.example night"}, {Text: "-SITE:owls.example night"}, {Text: "night", Site: []string{"owls.example"}},
	} {
		s := sheet("ann", 1, judgment.Mark{URL: heron, Grade: 3})
		s.Query = query
		if rest, changed := s.Forget(&set); !changed || len(rest.Marks) > 0 {
			t.Errorf("%+v keeps %v", query, rest.Marks)
		}
	}
	s := sheet("ann", 1, judgment.Mark{URL: heron, Grade: 3})
	s.Query = judgment.Query{Text: "owls example.org site:example.org"}
	if _, changed := s.Forget(&set); changed {
		t.Error("a query that names nothing forgotten loses its marks")
	}
}

// TestOfTimeBeyondKeys checks that Of returns an error, and does not panic, for a query with a time
// that is after the year 9999 in UTC.
func TestOfTimeBeyondKeys(t *testing.T) {
	late := time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600))
	if _, _, err := judgment.Of(t.Context(), memblob.New(), judgment.Query{Text: "birds", Before: late}, nobody); err == nil {
		t.Error("no error")
	}
}
