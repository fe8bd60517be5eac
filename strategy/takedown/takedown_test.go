package takedown

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func parse(t *testing.T, url string) address.Address {
	t.Helper()
	a, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func forget(t *testing.T, bucket blob.Bucket, entries ...Entry) uint64 {
	t.Helper()
	version, err := Forget(t.Context(), bucket, entries...)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func load(t *testing.T, bucket blob.Reader) Set {
	t.Helper()
	s, err := Load(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestForget(t *testing.T) {
	bucket := memblob.New()
	if s := load(t, bucket); !s.Empty() || s.HasSites() || s.Version != 0 || s.ForgetsURL("http://a.example/") {
		t.Errorf("of nothing: %+v", s)
	}
	if _, err := Forget(t.Context(), bucket); err == nil {
		t.Error("forgetting nothing is no error")
	}
	if _, err := Forget(t.Context(), bucket, Entry{At: noon}); err == nil || !strings.Contains(err.Error(), "want either a url or a site") {
		t.Errorf("forgetting what is neither: %v", err)
	}
	one := parse(t, "http://a.example/secret?q=1")
	wrong := URL(one, noon)
	wrong.Place = new(layout.Place)
	if _, err := Forget(t.Context(), bucket, wrong); err == nil || !strings.Contains(err.Error(), "the place is not that of a URL with this identity") {
		t.Errorf("forgetting with the place of another URL: %v", err)
	}
	later := noon.Add(time.Hour)
	for i, step := range []struct {
		entries []Entry
		want    uint64
	}{
		{[]Entry{URL(one, noon), URL(one, later)}, 1},
		{[]Entry{URL(one, later)}, 1},
		{[]Entry{Site("b.example", noon.Add(999*time.Millisecond)), URL(one, later)}, 2},
		{[]Entry{Site("b.example", later)}, 2},
	} {
		if got := forget(t, bucket, step.entries...); got != step.want {
			t.Errorf("step %d: version %d, want %d", i, got, step.want)
		}
	}
	s := load(t, bucket)
	if s.Empty() || !s.HasSites() || s.Version != 2 {
		t.Errorf("%+v, want version 2 with a site", s)
	}
	if place, known := s.PlaceOf(one.ID); !known || place != one.Place {
		t.Errorf("place %x, %v; want %x", place, known, one.Place)
	}
	if _, known := s.PlaceOf(parse(t, "http://b.example/").ID); known {
		t.Error("the place of a URL is known of which only the site is forgotten")
	}
	site := layout.RangeOfSite(layout.IdentityOf("b.example"))
	want := []layout.Range{{From: one.Place, To: one.Place + 1}, site}
	if site.From < one.Place {
		slices.Reverse(want)
	}
	if got := s.Within(); !slices.Equal(got, want) {
		t.Errorf("within %v, want %v", got, want)
	}
	for url, want := range map[string]time.Time{
		"http://a.example/secret?q=1":     noon,
		"http://a.example/secret":         {},
		"https://a.example/secret?q=1":    {},
		"http://b.example/":               noon,
		"https://www.b.example:8080/else": noon,
		"http://c.example/b.example":      {},
	} {
		a, forgotten := parse(t, url), !want.IsZero()
		if got := s.Since(a); !got.Equal(want) {
			t.Errorf("%s is forgotten since %v, want %v", url, got, want)
		}
		if s.Forgets(a) != forgotten || s.ForgetsPage(a.ID, a.Site) != forgotten || s.ForgetsURL(a.URL) != forgotten {
			t.Errorf("%s: forgotten %v, %v, %v; want %v", url, s.Forgets(a), s.ForgetsPage(a.ID, a.Site), s.ForgetsURL(a.URL), forgotten)
		}
		if got := s.ForgetsID(a.ID); got != (a.ID == one.ID) {
			t.Errorf("%s is forgotten by itself: %v", url, got)
		}
	}
	if s.ForgetsURL("no URL") {
		t.Error("what is no URL is forgotten")
	}
}

// TestRecordTellsNothing: the stored takedowns hold only hashes, not the URLs and sites that are
// forgotten.
func TestRecordTellsNothing(t *testing.T) {
	bucket := memblob.New()
	forget(t, bucket, URL(parse(t, "http://secretive.example/scandal"), noon), Site("hush.example", noon))
	content, err := bucket.Get(t.Context(), layout.TakedownKey(1), blob.Range{})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"secretive", "scandal", "hush", "example", "http:"} {
		if strings.Contains(string(content), word) {
			t.Errorf("%q stands in %s", word, content)
		}
	}
}

// TestForgettersRace: if many callers of Forget publish at once, no entry is lost.
func TestForgettersRace(t *testing.T) {
	bucket := memblob.New()
	const forgetters = 20
	var all sync.WaitGroup
	for i := range forgetters {
		entry := URL(parse(t, fmt.Sprintf("http://a.example/%d", i/2)), noon.Add(time.Duration(i)*time.Second)) // two entries for each URL
		all.Go(func() {
			if _, err := Forget(t.Context(), bucket, entry); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := load(t, bucket)
	for i := range forgetters / 2 {
		if url := fmt.Sprintf("http://a.example/%d", i); !s.ForgetsURL(url) {
			t.Errorf("%s is not forgotten", url)
		}
	}
	if s.Version != forgetters/2 || len(s.urls) != forgetters/2 {
		t.Errorf("version %d, %d URLs; want %d of each", s.Version, len(s.urls), forgetters/2)
	}
}

func TestDamagedDocument(t *testing.T) {
	const id = `"00112233445566778899aabbccddeeff"`
	for content, want := range map[string]string{
		`{"entries":[{"at":"2026-11-22T02:00:00Z"}]}`:                                      "entry 0: want either a url or a site",
		`{"entries":[{"url":` + id + `,"site":` + id + `,"at":"2026-11-22T02:00:00Z"}]}`:   "entry 0: want either a url or a site",
		`{"entries":[{"url":` + id + `}]}`:                                                 "entry 0: no time",
		`{"entries":[{"url":"http://a/","at":"2026-11-22T02:00:00Z"}]}`:                    "want 32 hexadecimal digits",
		`{"entries":[{"site":` + id + `,"at":"2026-11-22T02:00:00Z","name":"a.example"}]}`: `unknown field "entries.name"`,
		`{"entries":[]}{}`: "invalid character '{' after top-level value",
		`{"entries":`:      "unexpected end of JSON input",
	} {
		bucket := memblob.New()
		if err := bucket.Create(t.Context(), layout.TakedownKey(1), []byte(content)); err != nil {
			t.Fatal(err)
		}
		if s, err := Load(t.Context(), bucket); err != nil || len(s.Faults.Damaged) != 1 || !strings.Contains(s.Faults.Damaged[0].Reason, want) {
			t.Errorf("%s: %+v, %v; want %s", content, s, err, want)
		}
		if !strings.HasSuffix(content, "}") || strings.HasPrefix(want, "unknown") { // a newer program may have sealed unknown fields
			continue
		}
		sealed := memblob.New()
		if err := sealed.Create(t.Context(), layout.TakedownKey(1), layout.Seal([]byte(content))); err != nil {
			t.Fatal(err)
		}
		if s, err := Load(t.Context(), sealed); err == nil { // a document written by hand
			t.Errorf("%s, sealed: %+v", content, s)
		}
	}
}

// The newest version and its copy are damaged. The entries that can still be read in them are in
// force, together with those of the version before. The next version has all these entries.
func TestDamagedNewestForgetsOn(t *testing.T) {
	const pages = 5
	for at := 0; ; at += 7 {
		bucket := memblob.New()
		for i := range pages {
			if _, err := Forget(t.Context(), bucket, URL(page(t, i), noon)); err != nil {
				t.Fatal(err)
			}
		}
		key := layout.TakedownKey(pages)
		content, err := bucket.Get(t.Context(), key, blob.Range{})
		if err != nil {
			t.Fatal(err)
		}
		if at >= len(content) {
			break
		}
		content[at] ^= 4
		if err := bucket.Replace(t.Context(), key, content); err != nil {
			t.Fatal(err)
		}
		if s := load(t, bucket); s.Version != pages || len(s.urls) != pages || len(s.Faults.Damaged) != 1 || !s.Faults.Damaged[0].Copied {
			t.Fatalf("byte %d: version %d forgets %d, damaged %v; want what its copy says", at, s.Version, len(s.urls), s.Faults.Damaged)
		}
		if err := bucket.Replace(t.Context(), layout.CopyKey(key), nil); err != nil {
			t.Fatal(err)
		}
		s := load(t, bucket)
		if s.Version != pages-1 || len(s.Faults.Damaged) != 1 || s.Faults.Damaged[0].Key != key {
			t.Fatalf("byte %d: version %d, damaged %v", at, s.Version, s.Faults.Damaged)
		}
		forgotten := func(s Set, n int) (all int) {
			for i := range n {
				if s.Forgets(page(t, i)) {
					all++
				}
			}
			return all
		}
		last := strings.Index(string(content), page(t, pages-1).ID.String())
		for id := range s.IDs() {
			if place, known := s.PlaceOf(id); known && !place.IsOf(id) {
				t.Errorf("byte %d: place %x of %v", at, place, id)
			}
		}
		inPlace := last >= 0 && at >= last+strings.Index(string(content[last:]), `"place"`)
		if got := forgotten(s, pages); got < pages-1 || got < pages && last >= 0 && (at < last-20 || inPlace) {
			t.Errorf("byte %d: %d of %d pages are forgotten", at, got, pages)
		}
		if version, err := Forget(t.Context(), bucket, URL(page(t, pages), noon)); err != nil || version != pages+1 {
			t.Fatalf("byte %d: version %d, %v", at, version, err)
		}
		if next := load(t, bucket); len(next.Faults.Damaged) != 0 || forgotten(next, pages+1) != forgotten(s, pages)+1 {
			t.Errorf("byte %d: the next version forgets %d pages", at, forgotten(next, pages+1))
		}
	}
}

func page(t *testing.T, i int) address.Address {
	t.Helper()
	a, err := address.Parse(fmt.Sprintf("http://a.example/%d", i))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// FuzzTakedowns proves that a document that was read is valid, that it is the same after writing
// and reading it again, and that its entries are forgotten.
func FuzzTakedowns(f *testing.F) {
	id := layout.IdentityOf("a")
	content, err := json.Marshal(Document{Entries: []Entry{{URL: &id, At: noon}, {Site: &id, At: noon}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	place := layout.PlaceOf("a.example", id)
	if content, err = json.Marshal(Document{Entries: []Entry{{URL: &id, At: noon, Place: &place}}}); err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(`{"entries":null}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		d, err := numbered.Decode[Document](content)
		if err != nil {
			return
		}
		again, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if d2, err := numbered.Decode[Document](again); err != nil || !cmp.Equal(d, d2) {
			t.Fatalf("decoded %+v, again %+v, %v", d, d2, err)
		}
		s := newSet(d, 1)
		for _, e := range d.Entries {
			if s.add(e) || e.URL != nil && !s.ForgetsID(*e.URL) {
				t.Fatalf("%+v is not forgotten", e)
			}
		}
	})
}
