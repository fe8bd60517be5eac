package census

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestCosts counts 40 books, and then one more. The second time, only this book and the blocks of its sites may be
// read; and if nothing has changed, no block.
func TestCosts(t *testing.T) {
	w := newWorld(t, 1)
	for range 40 {
		w.learn()
	}
	first, all := w.update(t.Context(), new(Census))
	w.save(first)
	if _, urls := w.update(t.Context(), w.read()); urls != 0 {
		t.Errorf("%d URLs were counted again, although nothing has changed", urls)
	}
	w.learn()
	if _, urls := w.update(t.Context(), w.read()); urls == 0 || urls > all/2 {
		t.Errorf("%d of %d URLs were counted again for a book of few", urls, all)
	}
}

// TestTakedownCosts takes one URL down and erases it. Both times, only the URLs of its site and of the sites to which it
// has links may be counted again; all of them if an earlier program has published the takedown, without the place.
func TestTakedownCosts(t *testing.T) {
	w := newWorld(t, 1)
	for range 40 {
		w.learn()
	}
	functionstest.Learn(t, w.bucket, 0, book.Book{
		Outcomes: []book.Outcome{functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 99}, "http://www.site1.example/gone", book.Stored)},
		Links:    []book.Link{functionstest.Link(t, "http://www.site1.example/gone", "http://www.site2.example/only", 1)},
	})
	first, all := w.update(t.Context(), new(Census))
	w.save(first)
	expect := func(what string, whole bool) {
		t.Helper()
		got, again := w.update(t.Context(), w.read())
		want, _ := w.update(t.Context(), new(Census))
		if diff := cmp.Diff(show(want, w.clock.Now()), show(got, w.clock.Now())); diff != "" {
			t.Errorf("%s (-counted +updated):\n%s", what, diff)
		}
		if again == 0 || whole != (again > all/2) {
			t.Errorf("%s: %d of %d URLs were counted again", what, again, all)
		}
		w.save(got)
	}
	gone := takedown.URL(parse(t, "http://www.site1.example/gone"), w.clock.Now())
	if _, err := takedown.Forget(t.Context(), w.bucket, gone); err != nil {
		t.Fatal(err)
	}
	expect("hidden", false)
	w.erase()
	expect("erased", false)
	old := takedown.URL(parse(t, "http://www.site3.example/1"), w.clock.Now())
	old.Place = nil
	if _, err := takedown.Forget(t.Context(), w.bucket, old); err != nil {
		t.Fatal(err)
	}
	expect("without a place", true)
}

// TestAgain counts parts again in which URLs have outcomes since some time: all such URLs must be among those counted.
func TestAgain(t *testing.T) {
	w := newWorld(t, 5)
	for range 40 {
		w.learn()
		w.clock.Advance(time.Minute)
	}
	first, all := w.update(t.Context(), new(Census))
	w.save(first)
	s, books := w.survey()
	for _, age := range []time.Duration{0, 50 * time.Minute, 2 * time.Hour} {
		since := w.clock.Now().Add(-age)
		late := func(from *Census) (urls, counted int) {
			_, err := from.Update(t.Context(), w.bucket, books, s, w.clock.Now(), Extent{
				Again: func(p *Part) bool { return !p.Last.Before(since) },
				Each: func(u account.URL) {
					if counted++; !u.Final.Time.Before(since) {
						urls++
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			return urls, counted
		}
		got, again := late(w.read())
		want, _ := late(new(Census))
		if got != want || age == 0 && again > 0 || age > time.Hour && again < all/2 {
			t.Errorf("since %v ago: %d URLs, want %d; %d of %d were counted again", age, got, want, again, all)
		}
	}
}

func parse(t *testing.T, url string) address.Address {
	t.Helper()
	at, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestSteps counts in many steps. In between, books are learnt and merged, and a URL is taken down. When the crawl has
// ended, the URLs of which books were learnt behind a step must be counted, too. No step may count
// many URLs, and in the end, the numbers must be those of one count.
func TestSteps(t *testing.T) {
	w := newWorld(t, 4)
	for range 80 {
		w.learn()
	}
	defer func(before int64) { stepBytes = before }(stepBytes)
	stepBytes = 2000
	steps, more := 0, true
	for ; more && steps < 400; steps++ {
		s, _ := w.survey()
		var err error
		before := w.read()
		if more, err = Refresh(t.Context(), w.bucket, s, w.clock.Now(), false); err != nil {
			t.Fatal(err)
		}
		after := w.read()
		if parts := len(after.Parts) - len(before.Parts); parts > 3 || more != (after.Next != nil) || more && after.Uncounted() == 0 {
			t.Fatalf("step %d: %d more parts, next %v, %v of the space uncounted, and more is %v", steps, parts, after.Next, after.Uncounted(), more)
		}
		switch steps {
		case 3:
			w.learn()
		case 50: // URLs of sites all over the space
			for range 10 {
				w.learn()
			}
		case 5:
			w.merge()
		case 7:
			if _, err := takedown.Forget(t.Context(), w.bucket, takedown.URL(parse(t, w.url()), w.clock.Now())); err != nil {
				t.Fatal(err)
			}
			w.erase()
		}
	}
	if more || steps < 10 {
		t.Errorf("%d steps, and more is %v", steps, more)
	}
	for more = true; more && steps < 800; steps++ { // the crawl ends: what was learnt in between is counted, too
		s, _ := w.survey()
		var err error
		if more, err = Refresh(t.Context(), w.bucket, s, w.clock.Now(), true); err != nil {
			t.Fatal(err)
		}
	}
	got, again := w.update(t.Context(), w.read())
	want, _ := w.update(t.Context(), new(Census))
	if diff := cmp.Diff(show(want, w.clock.Now()), show(got, w.clock.Now())); diff != "" || again > 0 || more {
		t.Errorf("after the last step, %d URLs were counted again, and more is %v (-counted +updated):\n%s", again, more, diff)
	}
}

// TestDueInLargeBucket updates the numbers of a bucket that is larger than may be read at once, in an hour in which
// pages become due. Numbers of parts that are right but for these pages must not be left out.
func TestDueInLargeBucket(t *testing.T) {
	w := newWorld(t, 6)
	for range 40 {
		w.learn()
	}
	first, _ := w.update(t.Context(), new(Census))
	w.save(first)
	for range 400 {
		w.clock.Advance(20 * time.Minute)
		if _, again := w.update(t.Context(), w.read()); again > 0 {
			s, books := w.survey()
			got, err := w.read().Update(t.Context(), w.bucket, books, s, w.clock.Now(), Extent{Bytes: 1})
			if err != nil || got.Uncounted() > 0 {
				t.Errorf("%v of the space is uncounted, %v", got.Uncounted(), err)
			}
			return
		}
	}
	t.Error("no page becomes due")
}

// TestTooLarge saves numbers that do not all fit into the hint. As many parts as fit must be usable, and the numbers
// must not be taken for outdated.
func TestTooLarge(t *testing.T) {
	w := newWorld(t, 1)
	for range 40 {
		w.learn()
	}
	want, all := w.update(t.Context(), new(Census))
	defer func(most int) { maxBytes = most }(maxBytes)
	maxBytes = len(sealed(*want)) * 9 / 10
	w.save(want)
	got, urls := w.update(t.Context(), w.read())
	if urls == 0 || urls > all/2 {
		t.Errorf("%d of %d URLs were counted again", urls, all)
	}
	if diff := cmp.Diff(show(want, w.clock.Now()), show(got, w.clock.Now())); diff != "" {
		t.Errorf("numbers (-counted +updated):\n%s", diff)
	}
	s, _ := w.survey()
	if again, err := w.read().isOutdated(t.Context(), w.bucket, s, true); again || err != nil {
		t.Errorf("the saved numbers are outdated: %v, %v", again, err)
	}
}

// TestUnusable: a census that is lost, damaged, of a later format or of other books is not used.
func TestUnusable(t *testing.T) {
	for name, change := range map[string]func(c Census) []byte{
		"empty":          func(Census) []byte { return nil },
		"not sealed":     func(c Census) []byte { content, _ := json.Marshal(c); return content },
		"damaged":        func(c Census) []byte { content := sealed(c); content[len(content)/2] ^= 1; return content },
		"later format":   func(c Census) []byte { c.Format++; return sealed(c) },
		"parts overlap":  func(c Census) []byte { c.Parts = append(c.Parts, c.Parts[0]); return sealed(c) },
		"divided site":   func(c Census) []byte { c.Parts = []Part{{Range: layout.Range{To: 7}}}; return sealed(c) },
		"a book is gone": func(c Census) []byte { c.Books = append(c.Books, layout.BookKey(0, "gone")); return sealed(c) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			for range 5 {
				w.learn()
			}
			c, all := w.update(t.Context(), new(Census))
			for i := range c.Parts {
				c.Parts[i].All.Stored += 100 // shows whether it is used
			}
			if err := w.bucket.Replace(t.Context(), layout.Census, change(*c)); err != nil {
				t.Fatal(err)
			}
			if _, urls := w.update(t.Context(), w.read()); urls != all {
				t.Errorf("%d URLs were counted, want all %d", urls, all)
			}
		})
	}
}

func sealed(c Census) []byte {
	content, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return layout.Seal(content)
}

// TestSaved counts while more and more sites have URLs in the spool, until all parts have some. The numbers that are saved
// must be the same as if all URLs had been counted, and no URL may be counted of a part that is not saved.
func TestSaved(t *testing.T) {
	w := newWorld(t, 6)
	for range 40 {
		w.learn()
	}
	for some := false; ; w.fetch() {
		whole, _ := w.update(t.Context(), new(Census))
		w.save(whole)
		want := w.read()
		urls := 0
		s, books := w.survey()
		c, err := new(Census).Update(t.Context(), w.bucket, books, s, w.clock.Now(), Extent{Saved: true, Each: func(account.URL) { urls++ }})
		if err != nil {
			t.Fatal(err)
		}
		if n := want.Counts("").Discovered; urls != n {
			t.Fatalf("%d URLs were counted for %d that are saved", urls, n)
		}
		w.save(c)
		if diff := cmp.Diff(want, w.read()); diff != "" {
			t.Fatalf("saved numbers (-all counted +those that are saved):\n%s", diff)
		}
		if some = some || len(want.Parts) > 0 && len(want.Parts) < len(whole.Parts); len(want.Parts) > 0 {
			continue
		}
		if !some {
			t.Error("all parts were saved, or none")
		}
		break
	}
	if s, _ := w.survey(); !w.isCurrent(s) {
		t.Error("all URLs are counted again, although nothing has changed")
	}
	counted := w.read().Books
	if err := Rename(t.Context(), w.bucket, Merged{Books: counted[:3], Into: "merged"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(counted[3:], "merged"), w.read().Books); diff != "" {
		t.Errorf("counted books after a merge (-want +got):\n%s", diff)
	}
}

// isCurrent reports whether Refresh leaves the saved census as it is while the crawl goes on.
func (w *world) isCurrent(s *settings.Settings) bool {
	bucket := countblob.New(w.bucket)
	if _, err := Refresh(w.Context(), bucket, s, w.clock.Now(), false); err != nil {
		w.Fatal(err)
	}
	return bucket.Counts().Put == 0
}

// TestRefresh counts when that pays, and only then.
func TestRefresh(t *testing.T) {
	w := newWorld(t, 3)
	bucket := countblob.New(w.bucket)
	refresh := func(ended bool) (written bool) {
		s, _ := w.survey()
		before := bucket.Counts()
		if _, err := Refresh(t.Context(), bucket, s, w.clock.Now(), ended); err != nil {
			t.Fatal(err)
		}
		return bucket.Counts().Minus(before).Put > 0
	}
	expect := func(what string, ended, want bool) {
		t.Helper()
		if got := refresh(ended); got != want {
			t.Errorf("%s: written %v, want %v", what, got, want)
		}
	}
	expect("an empty bucket", true, false)
	w.learn()
	expect("never counted", false, true)
	expect("nothing new", true, false)
	for range 3 {
		w.learn()
	}
	expect("more than was counted", false, true)
	w.learn()
	expect("little more", false, false)
	expect("little more, and the crawl has ended", true, true)
	if _, err := takedown.Forget(t.Context(), w.bucket, takedown.Site("site5.example", w.clock.Now())); err != nil {
		t.Fatal(err)
	}
	expect("a takedown", false, true)
	want, _ := w.update(t.Context(), new(Census))
	if diff := cmp.Diff(show(want, w.clock.Now()), show(w.read(), w.clock.Now())); diff != "" {
		t.Errorf("saved numbers (-counted +saved):\n%s", diff)
	}
	if err := w.bucket.Delete(t.Context(), w.read().Books[0]); err != nil {
		t.Fatal(err)
	}
	w.learn()
	expect("a lost book", true, false)
	if _, err := takedown.Forget(t.Context(), w.bucket, takedown.Site("site6.example", w.clock.Now())); err != nil {
		t.Fatal(err)
	}
	expect("a takedown, and a lost book", true, true)
	if c := w.read(); len(c.Parts) > 0 {
		t.Errorf("after a takedown that could not be counted, numbers are left: %+v", c)
	}
}

// FuzzRead reads damaged hints. What is read must be such that it can be updated.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format":3,"settings":"s","books":["b"],"parts":[{"from":0,"to":4294967296,"time":"2026-11-26T15:00:00Z","all":{"stored":1}}]}`))
	f.Add([]byte(`{"format":3,"parts":[{"from":4294967296,"to":0},{"from":0,"to":0}]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, object []byte) {
		if !json.Valid(object) || len(object) < 2 || object[0] != '{' {
			return
		}
		bucket := memblob.New()
		functionstest.Put(t, bucket, layout.Census, layout.Seal(object))
		c, err := Read(t.Context(), bucket)
		if err != nil {
			t.Fatal(err)
		}
		next := layout.Place(0)
		for _, gap := range c.gaps() {
			if gap.From < next || gap.To != 0 && gap.To <= gap.From {
				t.Errorf("gaps %v", c.gaps())
			}
			next = gap.To
		}
		show(c, time.Time{})
	})
}
