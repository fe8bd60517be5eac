package inventory

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

var later = functionstest.Start.Add(time.Hour)

func version(token uint64) layout.Version { return layout.Version{Epoch: 1, Token: token} }

func urlOf(n int) string { return fmt.Sprintf("http://host%d.example.org/%d", n%2, n) }

// store stores pages with the URLs of the given numbers (see urlOf) in a package of a partition,
// and commits a book with their outcomes. It returns the key of the package.
func store(t *testing.T, bucket blob.Bucket, p layout.Partition, v layout.Version, numbers ...int) (key string) {
	t.Helper()
	var objects []webobject.Object
	for _, n := range numbers {
		objects = append(objects, functionstest.Page(v, urlOf(n)))
	}
	listed, outcomes := functionstest.Package(t, bucket, p, objects...)
	for i := range outcomes {
		outcomes[i].Time = functionstest.Start.Add(time.Duration(numbers[i]) * time.Minute)
	}
	functionstest.Learn(t, bucket, p, book.Book{Outcomes: outcomes}, listed)
	return listed.Key
}

func learn(t *testing.T, bucket blob.Bucket, p layout.Partition, v layout.Version, n int, state book.State) {
	t.Helper()
	functionstest.Learn(t, bucket, p, book.Book{Outcomes: []book.Outcome{functionstest.Outcome(t, v, urlOf(n), state)}})
}

// oddGerman returns the language of a test page: German if its number is odd, else English.
func oddGerman(o webobject.Object) string {
	return map[bool]string{true: "en", false: "de"}[strings.HasPrefix(o.URL, "http://host0")]
}

// list opens an inventory at the given time. It returns the inventory, and a sorted list of the selected
// pages. Each page is a text with its number, language and media type.
func list(t *testing.T, bucket blob.Reader, s *settings.Settings, selected Selection, at time.Time) (*Inventory, []string) {
	t.Helper()
	v, err := Open(t.Context(), bucket, s, at)
	if err == nil {
		err = v.ReadIndex(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for page, err := range v.Pages(t.Context(), selected) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page.URL[len("http://hostN.example.org/"):]+" "+page.Lang+" "+page.MIME)
	}
	slices.Sort(got)
	return v, got
}

func TestSelection(t *testing.T) {
	bucket := memblob.New()
	s := functionstest.Publish(t, bucket, 1, nil, "http://host0.example.org/")
	functionstest.Index(t, bucket, 0, store(t, bucket, 0, version(1), 0, 1, 2), oddGerman)
	functionstest.Index(t, bucket, 0, store(t, bucket, 0, version(1), 3, 4, 5), oddGerman)
	store(t, bucket, 0, version(1), 6) // not indexed yet
	learn(t, bucket, 0, version(2), 5, book.Failed)
	learn(t, bucket, 0, version(2), 4, book.Unchanged)
	learn(t, bucket, 0, version(2), 7, book.Skipped)
	en, de := " en text/html", " de text/html"
	minute := func(n int) time.Time { return functionstest.Start.Add(time.Duration(n) * time.Minute) }
	for name, c := range map[string]struct {
		Selection
		want []string
	}{
		"all":          {Selection{}, []string{"0" + en, "1" + de, "2" + en, "3" + de, "4" + en, "6  "}},
		"collection":   {Selection{Collection: functionstest.Collection}, []string{"0" + en, "1" + de, "2" + en, "3" + de, "4" + en, "6  "}},
		"host":         {Selection{Site: "host1.example.org"}, []string{"1" + de, "3" + de}},
		"other host":   {Selection{Site: "host2.example.org"}, nil},
		"other domain": {Selection{Site: "example.com"}, nil},
		"domain":       {Selection{Site: "EXAMPLE.org"}, []string{"0" + en, "1" + de, "2" + en, "3" + de, "4" + en, "6  "}},
		"language":     {Selection{Lang: "de"}, []string{"1" + de, "3" + de, "6  "}},
		"time":         {Selection{Since: minute(1), Until: minute(3)}, []string{"1" + de, "2" + en}},
	} {
		t.Run(name, func(t *testing.T) {
			v, got := list(t, bucket, s, c.Selection, later)
			if diff := cmp.Diff(c.want, got); diff != "" || len(v.Faults)+len(v.Unindexed) > 0 {
				t.Error(diff, v.Faults, v.Unindexed)
			}
		})
	}
}

// TestWrongSelection checks that a site that is no host, and a collection that does not exist, are
// errors.
func TestWrongSelection(t *testing.T) {
	bucket := memblob.New()
	s := functionstest.Publish(t, bucket, 1, nil, "http://host0.example.org/")
	v, err := Open(t.Context(), bucket, s, later)
	if err != nil {
		t.Fatal(err)
	}
	for selected, want := range map[Selection]string{
		{Site: "http://example.org/"}:          "write a host or domain",
		{Site: "example.org/docs"}:             "write a host or domain",
		{Site: "a b"}:                          "write a host or domain",
		{Collection: "other"}:                  `no collection "other"; there are: ` + functionstest.Collection,
		{Collection: functionstest.Collection}: "",
	} {
		told := ""
		for _, err := range v.Pages(t.Context(), selected) {
			told = err.Error()
		}
		if told == "" && want != "" || !strings.Contains(told, want) {
			t.Errorf("%+v: %q", selected, told)
		}
	}
}

// TestErased checks that pages are listed with their languages after other pages were erased from
// their package. The package has another key since then, but books and segments name the former
// key.
func TestErased(t *testing.T) {
	bucket := memblob.New()
	s := functionstest.Publish(t, bucket, 1, nil, "http://host0.example.org/")
	former := store(t, bucket, 0, version(1), 0, 1)
	functionstest.Index(t, bucket, 0, former, oddGerman)
	now := strings.Replace(former, ".spf", "", 1) + "5.spf"
	functionstest.Commit(t, bucket, 0, func(m *manifest.Manifest) {
		m.Packages[0].Key, m.Packages[0].Formerly = now, []string{former}
	})
	v, got := list(t, bucket, s, Selection{}, later)
	if want := []string{"0 en text/html", "1 de text/html"}; !slices.Equal(got, want) {
		t.Error(got)
	}
	for page := range v.Pages(t.Context(), Selection{}) {
		if page.Key != now {
			t.Errorf("%s is in %s, want %s", page.URL, page.Key, now)
		}
	}
}

// TestMoved checks an inventory of pages that a strategy has moved from partition 0 to partition 1. Three of
// the four pages were requested again, and partition 1 has the outcomes. The inventory must have
//
//	the page that was stored again            once, as partition 1 has it
//	the page whose request failed             not at all
//	the page that was unchanged               as partition 0 has it
//	the page that was not requested again     as partition 0 has it
func TestMoved(t *testing.T) {
	bucket := memblob.New()
	s := functionstest.Publish(t, bucket, 2, nil, "http://host0.example.org/")
	functionstest.Index(t, bucket, 0, store(t, bucket, 0, version(1), 0, 1, 2, 3), oddGerman)
	functionstest.Index(t, bucket, 1, store(t, bucket, 1, version(2), 0), func(webobject.Object) string { return "fr" })
	learn(t, bucket, 1, version(2), 1, book.Failed)
	learn(t, bucket, 1, version(2), 2, book.Unchanged) // the page stays where it was
	_, got := list(t, bucket, s, Selection{}, later)
	if want := []string{"0 fr text/html", "2 en text/html", "3 de text/html"}; !slices.Equal(got, want) {
		t.Error(got)
	}
}

// TestAsOf checks that an inventory of an earlier moment lists the pages that were stored then, with
// the languages that the index had then.
func TestAsOf(t *testing.T) {
	bucket := memblob.New()
	s := functionstest.Publish(t, bucket, 1, nil, "http://host0.example.org/")
	functionstest.Index(t, bucket, 0, store(t, bucket, 0, version(1), 0), oddGerman)
	then := functionstest.Manifest(t, bucket, 0)
	learn(t, bucket, 0, version(2), 0, book.Failed)
	now := functionstest.Manifest(t, bucket, 0)
	again := memblob.New() // the same objects, of which the last generation is an hour younger
	for _, key := range functionstest.Keys(t, bucket, "") {
		content, err := bucket.Get(t.Context(), key, blob.Range{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(key, layout.ManifestPrefix(0)) && !strings.HasPrefix(key, layout.HintKey(0)) {
			functionstest.Put(t, again, key, content)
		}
	}
	functionstest.Commit(t, again, 0, func(m *manifest.Manifest) { *m = keep(*m, then) })
	if _, err := manifest.Commit(t.Context(), again, 0, func() time.Time { return later }, func(m *manifest.Manifest) error {
		*m = keep(*m, now)
		m.Segments = nil
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time][]string{later.Add(-time.Minute): {"0 en text/html"}, later: nil} {
		if _, got := list(t, again, s, Selection{}, at); !slices.Equal(got, want) {
			t.Errorf("at %s: %q, want %q", at, got, want)
		}
	}
}

// keep returns the manifest m, but with the packages, books and segments of another manifest.
func keep(m, of manifest.Manifest) manifest.Manifest {
	m.Packages, m.Books, m.Segments, m.Next = of.Packages, of.Books, of.Segments, of.Next
	return m
}

// TestDamage damages a book of one partition and a segment of another. All readable pages must be
// listed, and the damage reported.
func TestDamage(t *testing.T) {
	bucket := memblob.New()
	s := functionstest.Publish(t, bucket, 2, nil, "http://host0.example.org/")
	store(t, bucket, 0, version(1), 0)
	functionstest.Index(t, bucket, 1, store(t, bucket, 1, version(1), 1), oddGerman)
	damage := func(key string) {
		content, err := bucket.Get(t.Context(), key, blob.Range{})
		if err != nil {
			t.Fatal(err)
		}
		content[len(content)-30] ^= 0xFF
		if err := bucket.Replace(t.Context(), key, content); err != nil {
			t.Fatal(err)
		}
	}
	damage(functionstest.Manifest(t, bucket, 0).Books[0].Key)
	damage(functionstest.Manifest(t, bucket, 1).Segments[0].Key)
	v, got := list(t, bucket, s, Selection{}, later)
	if !slices.Equal(got, []string{"1  "}) || len(v.Faults) != 1 || !partition.IsFault(v.Faults[0]) ||
		len(v.Unindexed) != 1 || !strings.Contains(v.Unindexed[0].Error(), "language and type of 1 pages are not known") {
		t.Error(got, v.Faults, v.Unindexed)
	}
}

// TestFaults lets each request fail in turn, and checks that the result is an error or the whole
// list, never a shorter list.
func TestFaults(t *testing.T) {
	bucket := memblob.New()
	s := functionstest.Publish(t, bucket, 2, nil, "http://host0.example.org/")
	functionstest.Index(t, bucket, 0, store(t, bucket, 0, version(1), 0, 1), oddGerman)
	functionstest.Index(t, bucket, 1, store(t, bucket, 1, version(1), 2), oddGerman)
	_, want := list(t, bucket, s, Selection{}, later)
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		v, err := Open(t.Context(), faultblob.New(bucket, decide), s, later)
		if err == nil {
			err = v.ReadIndex(t.Context())
		}
		got := 0
		if err == nil {
			for _, failed := range v.Pages(t.Context(), Selection{}) {
				if err = failed; err != nil {
					break
				}
				got++
			}
		}
		if err == nil && (got != len(want) || len(v.Faults)+len(v.Unindexed) > 0) {
			t.Errorf("%d pages without an error, faults %v %v", got, v.Faults, v.Unindexed)
		}
	})
}

// TestRequests checks that an inventory needs requests for books and segments only, not for each
// page.
func TestRequests(t *testing.T) {
	bucket := memblob.New()
	s := functionstest.Publish(t, bucket, 1, nil, "http://host0.example.org/")
	for n := range 5 {
		var numbers []int
		for i := range 20 {
			numbers = append(numbers, 20*n+i)
		}
		functionstest.Index(t, bucket, 0, store(t, bucket, 0, version(1), numbers...), oddGerman)
	}
	counted := countblob.New(bucket)
	_, got := list(t, counted, s, Selection{}, later)
	if gets := counted.Counts().Get; len(got) != 100 || gets > 5+4*5+10 { // of each book one, of each segment four
		t.Errorf("%d GETs for %d pages in 5 packages", gets, len(got))
	}
}
