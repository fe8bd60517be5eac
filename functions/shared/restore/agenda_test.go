package restore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// lists returns the keys of all lists of URLs that become due.
func (w *world) lists() []string { return functionstest.Keys(w.t, w.bucket, layout.Due) }

// TestAgendaReadsWhatIsDue counts the reads of books and lists. A book must be read when it is new, once
// a day, and when Redis or the bucket has lost the agenda. At other times only lists are read, and only
// when a URL in them is due. A list must be deleted when all its URLs were queued.
func TestAgendaReadsWhatIsDue(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	var first, books, lists atomic.Int64
	firstBook := ""
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		switch {
		case c.Op != faultblob.Get:
		case c.Key == firstBook:
			first.Add(1)
		case strings.HasPrefix(c.Key, layout.Books+"0000"):
			books.Add(1)
		case strings.HasPrefix(c.Key, layout.Due):
			lists.Add(1)
		}
		return faultblob.None
	})
	w.teach(0, kept(t, 51, one+"half", book.Stored, -1, 0), kept(t, 52, one+"quarter", book.Stored, -2, 0), kept(t, 53, one+"week", book.Stored, 3, 0))
	firstBook = functionstest.Manifest(t, w.bucket, 0).Books[0].Key
	w.run()
	at := func(after time.Duration) func() {
		return func() { w.clock.Advance(functionstest.Start.Add(after).Sub(w.clock.Now())) }
	}
	lose := func() {
		if err := w.Redis.Del(t.Context(), agendaKey(0)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	damage := func() {
		for _, key := range w.lists() {
			if err := w.bucket.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
	soon := kept(t, 61, one+"soon", book.Stored, -4, 6*time.Hour)
	learn := func() { w.teach(0, soon) }
	merge := func() { w.teach(0, soon, kept(t, 54, one+"gone", book.Failed, 0, 0)) }
	for _, step := range []struct {
		name                          string
		do                            func()
		wait                          []string // URLs that must wait again
		readFirst, readOthers, listed int      // numbers of reads of the first book, other books and lists
		kept                          int      // number of lists that are left
	}{
		{"before any is due", at(6*time.Hour - time.Millisecond), nil, 0, 0, 0, 1},
		{"one is due", at(6 * time.Hour), []string{one + "quarter"}, 0, 0, 1, 1},
		{"nothing new", at(6*time.Hour + time.Minute), nil, 0, 0, 0, 1},
		{"a new book", learn, nil, 0, 1, 0, 2},
		{"no new book", func() {}, nil, 0, 0, 0, 2},
		{"a new book with the same page", merge, nil, 0, 1, 0, 2},
		{"its page is due", at(7*time.Hour + 30*time.Minute), []string{one + "soon"}, 0, 0, 1, 1},
		{"Redis loses the agenda", lose, nil, 1, 2, 0, 1},
		{"the bucket loses a list that is not due", damage, nil, 0, 0, 0, 0},
		{"it is due", at(12 * time.Hour), []string{one + "half"}, 1, 2, 1, 0},
		{"a day later", at(36*time.Hour - time.Millisecond), nil, 0, 0, 0, 0},
		{"a day later at last", at(36 * time.Hour), nil, 1, 2, 0, 0},
		{"the clock goes back", at(36*time.Hour - time.Second), nil, 1, 2, 0, 0},
		{"after a week", at(8 * 24 * time.Hour), []string{one + "week"}, 1, 2, 0, 0},
	} {
		first.Store(0)
		books.Store(0)
		lists.Store(0)
		step.do()
		s, m := w.inForce, functionstest.Manifest(t, w.bucket, 0)
		if err := w.Renew(t.Context(), s, &m); err != nil {
			t.Fatal(err)
		}
		got := []int{int(first.Load()), int(books.Load()), int(lists.Load()), len(w.lists())}
		if diff := cmp.Diff([]int{step.readFirst, step.readOthers, step.listed, step.kept}, got); diff != "" {
			t.Errorf("%s: reads of the first book, of others, of lists, and lists left (-want +got):\n%s", step.name, diff)
		}
		if diff := cmp.Diff(step.wait, urlsOf(w.again(1))); diff != "" {
			t.Errorf("%s: wait again (-want +got):\n%s", step.name, diff)
		}
	}
}

// TestAgendaIsFull checks that all books are searched when a URL becomes due that an agenda has no room for.
func TestAgendaIsFull(t *testing.T) {
	full := &agenda{Until: functionstest.Start.Add(time.Hour), Lists: make([]list, maxLists)}
	for _, after := range []time.Duration{40 * time.Minute, 20 * time.Minute, 30 * time.Minute} {
		if at := functionstest.Start.Add(after); at.Before(full.Until) {
			if err := full.add(t.Context(), coming{at: at}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want := functionstest.Start.Add(20 * time.Minute); !full.Until.Equal(want) || len(full.coming) > 0 {
		t.Errorf("until %v with %d URLs, want until %v with none", full.Until, len(full.coming), want)
	}
}

// TestAgendaOfMany has more URLs than a piece of a list may have, which become due at random times. After each of
// some searches, those URLs must have been queued whose time has come, and no others.
func TestAgendaOfMany(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	random := rand.New(rand.NewPCG(1, 2))
	due := make(map[string]time.Time)
	var outcomes []book.Outcome
	for i := range 9 * pieceSize {
		o := kept(t, uint64(51+i), fmt.Sprint(one, i), book.Stored, int16(random.IntN(4)-3), time.Duration(random.IntN(3600_000))*time.Millisecond)
		outcomes = append(outcomes, o)
		due[o.URL] = w.inForce.Due(o)
	}
	w.teach(0, outcomes...)
	w.run()
	for range 20 {
		w.clock.Advance(time.Duration(random.IntN(100*60_000)) * time.Millisecond)
		w.run()
		var want []string
		for url, at := range due {
			if !at.After(w.clock.Now()) {
				want = append(want, url)
				delete(due, url)
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, urlsOf(w.again(1))); diff != "" {
			t.Errorf("at %v wait again (-want +got):\n%s", w.clock.Now(), diff)
		}
	}
}

// TestAgendaAfterFaults lets each request to the bucket fail in turn, with and without effect. A search that
// fails must be made up for by the next one, and leave no list behind that is not in the agenda.
func TestAgendaAfterFaults(t *testing.T) {
	rdb := redistest.Server(t)
	for _, fault := range []faultblob.Fault{faultblob.Before, faultblob.After} {
		for number, failed := int64(1), true; failed; number++ {
			if err := rdb.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, rdb)
			w.teach(0, kept(t, 51, one+"half", book.Stored, -1, 0), kept(t, 52, one+"quarter", book.Stored, -2, 0))
			w.run()
			m := functionstest.Manifest(t, w.bucket, 0)
			var reached atomic.Bool
			w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
				if c.Number != number {
					return faultblob.None
				}
				reached.Store(true)
				return fault
			})
			var got []string
			for _, after := range []time.Duration{6 * time.Hour, 12 * time.Hour, 36 * time.Hour, 37 * time.Hour} {
				w.clock.Advance(functionstest.Start.Add(after).Sub(w.clock.Now()))
				if err := w.Renew(t.Context(), w.inForce, &m); err != nil {
					if err := w.Renew(t.Context(), w.inForce, &m); err != nil {
						t.Fatal(err)
					}
				}
				got = append(got, urlsOf(w.again(1))...)
			}
			failed = reached.Load()
			if diff := cmp.Diff([]string{one + "quarter", one + "half"}, got); diff != "" {
				t.Errorf("call %d fails, %v: wait again (-want +got):\n%s", number, fault, diff)
			}
			if left := w.lists(); len(left) > 0 {
				t.Errorf("call %d fails, %v: lists are left: %v", number, fault, left)
			}
		}
	}
}

// TestAgendaForgets checks that no list has a URL any more once a takedown that forgets it is final.
func TestAgendaForgets(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.teach(0, kept(t, 51, one+"half", book.Stored, -1, 0), kept(t, 52, one+"forgotten", book.Stored, -2, 0))
	w.run()
	before := w.lists()
	at, err := address.Parse(one + "forgotten")
	if err == nil {
		_, err = takedown.Forget(t.Context(), w.bucket, takedown.URL(at, w.clock.Now()))
	}
	w.clock.Advance(2 * time.Hour)
	if err == nil {
		err = takedown.Seal(t.Context(), w.bucket, w.clock.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	w.run()
	if len(before) != 1 || slices.Contains(w.lists(), before[0]) {
		t.Errorf("lists before the takedown %v, after it %v", before, w.lists())
	}
	w.clock.Advance(10 * time.Hour)
	w.run()
	if diff := cmp.Diff([]string{one + "half"}, urlsOf(w.again(1))); diff != "" {
		t.Errorf("wait again (-want +got):\n%s", diff)
	}
}
