package census

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/forget"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

func init() { minPart, passBytes = 1000, 3000 } // so that a few sites are a part, and a few parts are a pass

// world is a bucket whose books and settings change at random.
type world struct {
	*testing.T
	bucket blob.Bucket
	random *rand.Rand
	clock  *functionstest.Clock
	tokens uint64
}

const sites = 100

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{T: t, bucket: memblob.New(), random: rand.New(rand.NewPCG(seed, 1)), clock: functionstest.NewClock()}
	functionstest.Publish(t, w.bucket, 2, func(c *collection.Collection) { c.Seeds[0].Scope = collection.Any }, "http://www.site0.example/")
	functionstest.Republish(t, w.bucket, collection.Collection{Name: "other", HostConnections: 1, Agent: "bot/1.0", Seeds: []collection.Seed{{URL: "http://www.site1.example/", Scope: collection.Site, Depth: 1}}}, nil)
	for p := range layout.Partition(2) {
		functionstest.Begin(t, w.bucket, p)
	}
	return w
}

func (w *world) url() string {
	return fmt.Sprintf("http://%s.site%d.example/%d", []string{"www", "m"}[w.random.IntN(2)], w.random.IntN(sites), w.random.IntN(5))
}

// batch returns outcomes of random URLs, and links from them.
func (w *world) batch() (outcomes []book.Outcome, links []book.Link) {
	w.tokens++
	asked := make(map[string]bool)
	for range 1 + w.random.IntN(3) {
		url := w.url()
		if asked[url] {
			continue
		}
		asked[url] = true
		o := functionstest.Outcome(w.T, layout.Version{Epoch: 1, Token: w.tokens}, url, []book.State{book.Stored, book.Stored, book.Failed, book.Skipped, book.Retry}[w.random.IntN(5)])
		o.Time, o.Exponent = w.clock.Now().Add(-time.Duration(w.random.IntN(60))*time.Minute), int16(w.random.IntN(2))
		if w.random.IntN(3) == 0 {
			o.Pace = book.Pace{Failures: uint16(w.random.IntN(3)), Delay: time.Second}
		}
		if w.random.IntN(4) == 0 {
			o.Collections = []string{"other"}
		}
		outcomes = append(outcomes, o)
		for range w.random.IntN(2) {
			links = append(links, functionstest.Link(w.T, url, w.url(), uint16(w.random.IntN(4))))
		}
	}
	return outcomes, links
}

// learn commits a book to a random partition.
func (w *world) learn() {
	outcomes, links := w.batch()
	functionstest.Learn(w.T, w.bucket, layout.Partition(w.random.IntN(2)), book.Book{Outcomes: outcomes, Links: links})
}

// quarantine takes all objects out of the spool, as if they were found damaged.
func (w *world) quarantine() {
	for _, key := range functionstest.Keys(w.T, w.bucket, layout.Spool) {
		if err := w.bucket.Delete(w.Context(), key); err != nil {
			w.Fatal(err)
		}
	}
}

// fetch puts a spool object into a random partition.
func (w *world) fetch() {
	outcomes, links := w.batch()
	for i := range outcomes {
		if outcomes[i].State == book.Stored {
			outcomes[i].State, outcomes[i].Reason = book.Failed, "test" // a stored page would have to be in the object
		}
	}
	batch := outcomes[0].Version
	functionstest.Put(w.T, w.bucket, layout.SpoolKey(layout.Partition(w.random.IntN(2)), batch),
		functionstest.Spool(w.T, spool.Ledger{Batch: batch, Ended: w.clock.Now(), Outcomes: outcomes, Links: links}))
}

// merge merges some books of a random partition.
func (w *world) merge() {
	p := layout.Partition(w.random.IntN(2))
	all := functionstest.Manifest(w.T, w.bucket, p).Books
	w.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	old := all[:min(len(all), 3)]
	if len(old) < 2 {
		return
	}
	books, err := partition.OpenBooks(w.Context(), w.bucket, old)
	if err != nil {
		w.Fatal(err)
	}
	readers, err := books.Readers()
	if err != nil {
		w.Fatal(err)
	}
	content, outcomes, links, err := book.Merge(w.Context(), readers)
	if err != nil {
		w.Fatal(err)
	}
	merged := manifest.Book{Key: layout.BookKey(p, layout.ContentHash(content)), Bytes: int64(len(content)), Outcomes: outcomes, Links: links}
	var keys []string
	for _, b := range old {
		keys = append(keys, b.Key)
	}
	if err := blob.CreateOnce(w.Context(), w.bucket, merged.Key, content); err != nil {
		w.Fatal(err)
	}
	functionstest.Commit(w.T, w.bucket, p, func(m *manifest.Manifest) {
		m.Books = append(slices.DeleteFunc(m.Books, func(b manifest.Book) bool { return slices.Contains(keys, b.Key) }), merged)
	})
	if w.random.IntN(4) > 0 { // else the process was killed before
		if err := Rename(w.Context(), w.bucket, Merged{Books: keys, Into: merged.Key}); err != nil {
			w.Fatal(err)
		}
	}
}

// erase writes all books with a forgotten URL anew without it, as the sweep does.
func (w *world) erase() {
	s, _ := w.survey()
	var written []Merged
	for p := range layout.Partition(2) {
		for _, old := range functionstest.Manifest(w.T, w.bucket, p).Books {
			opened, err := book.Open(w.Context(), w.bucket, old.Key)
			if err != nil {
				w.Fatal(err)
			}
			left, err := forget.Erase(w.Context(), opened, s.Takedowns, false)
			if err != nil {
				w.Fatal(err)
			}
			if left == nil {
				continue
			}
			is := manifest.Book{Key: layout.BookKey(p, layout.ContentHash(left.Content)), Bytes: int64(len(left.Content))}
			if err := blob.CreateOnce(w.Context(), w.bucket, is.Key, left.Content); err != nil {
				w.Fatal(err)
			}
			functionstest.Commit(w.T, w.bucket, p, func(m *manifest.Manifest) {
				m.Books = append(slices.DeleteFunc(m.Books, func(b manifest.Book) bool { return b.Key == old.Key }), is)
			})
			written = append(written, Merged{Books: []string{old.Key}, Into: is.Key, Changed: left.Sites})
		}
	}
	if err := Rename(w.Context(), w.bucket, written...); err != nil {
		w.Fatal(err)
	}
}

// set changes the settings: it takes a URL or site down, takes that back, or adds a seed.
func (w *world) set() {
	at, err := collection.ParseSeed(w.url())
	if err != nil {
		w.Fatal(err)
	}
	entry := []takedown.Entry{takedown.URL(at, w.clock.Now()), takedown.Site(at.Site, w.clock.Now())}[w.random.IntN(2)]
	switch w.random.IntN(3) {
	case 0:
		_, err = takedown.Forget(w.Context(), w.bucket, entry)
	case 1:
		_, err = takedown.Suspend(w.Context(), w.bucket, w.clock.Now().Add(time.Hour), entry)
	case 2:
		_, err = collection.Change(w.Context(), w.bucket, "other", func(c collection.Collection) (collection.Collection, error) {
			return c.With([]collection.Seed{{URL: at.URL, Scope: collection.Site, Depth: 2}}), nil
		})
	}
	if err != nil {
		w.Fatal(err)
	}
}

// survey returns the settings in force, and the opened books.
func (w *world) survey() (*settings.Settings, *account.Bucket) {
	s, err := settings.Read(w.Context(), w.bucket, w.clock.Now())
	if err != nil {
		w.Fatal(err)
	}
	books, err := account.Survey(w.Context(), w.bucket, s)
	if err != nil {
		w.Fatal(err)
	}
	return s, books
}

// update updates a census, and returns how many URLs it has counted again.
func (w *world) update(ctx context.Context, c *Census) (next *Census, urls int) {
	s, books := w.survey()
	next, err := c.Update(ctx, w.bucket, books, s, w.clock.Now(), Extent{Each: func(account.URL) { urls++ }})
	if err != nil {
		w.Fatal(err)
	}
	return next, urls
}

func (w *world) read() *Census {
	c, err := Read(w.Context(), w.bucket)
	if err != nil {
		w.Fatal(err)
	}
	return c
}

func (w *world) save(c *Census) {
	_, books := w.survey()
	if err := c.Save(w.Context(), w.bucket, books); err != nil {
		w.Fatal(err)
	}
}

// shown is everything that the command status shows of a census.
type shown struct {
	Counts      map[string]Counts // by the name of the collection; "" for all
	Silent      map[string][]Silent
	Due         map[string]int
	Next        map[string]time.Time
	Collections map[string]int // pages on the topic
}

func show(c *Census, now time.Time) shown {
	all := shown{make(map[string]Counts), make(map[string][]Silent), make(map[string]int), make(map[string]time.Time), make(map[string]int)}
	for _, name := range []string{"", functionstest.Collection, "other"} {
		own := c.Collection(name)
		all.Counts[name], all.Silent[name], all.Collections[name] = c.Counts(name), c.Silent(name), own.OnTopic
		all.Due[name], all.Next[name] = own.DueAt(now)
	}
	return all
}

// TestHour has two pages that become due within the same hour. During this hour, they must be counted again.
func TestHour(t *testing.T) {
	w := newWorld(t, 1)
	var b book.Book
	for i, minutes := range []int{10, 50} {
		o := functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 1}, fmt.Sprint("http://www.site0.example/", i), book.Stored)
		o.Time = w.clock.Now().Truncate(time.Hour).Add(time.Duration(minutes) * time.Minute)
		b.Outcomes = append(b.Outcomes, o)
		b.Links = append(b.Links, functionstest.Link(t, "http://www.site0.example/", o.URL, 1))
	}
	slices.SortFunc(b.Outcomes, book.Outcome.Compare)
	functionstest.Learn(t, w.bucket, 0, b)
	w.clock.Advance(time.Hour)
	first, _ := w.update(t.Context(), new(Census))
	own := first.Collection(functionstest.Collection)
	_, next := own.DueAt(w.clock.Now())
	if next.Before(w.clock.Now()) {
		t.Fatalf("the next is due at %v", next)
	}
	w.save(first)
	for _, c := range []struct {
		after time.Duration
		again bool // the pages are counted again
		due   int
	}{{-time.Minute, false, 0}, {0, true, 1}, {39 * time.Minute, true, 1}, {50 * time.Minute, false, 2}} {
		w.clock.Advance(next.Add(c.after).Sub(w.clock.Now()))
		got, again := w.update(t.Context(), w.read())
		own := got.Collection(functionstest.Collection)
		if due, _ := own.DueAt(w.clock.Now()); due != c.due || (again > 0) != c.again {
			t.Errorf("after %v, %d pages are due and %d URLs were counted again; want %d, and %v", c.after, due, again, c.due, c.again)
		}
	}
}

// TestUpdate changes buckets at random, and saves a census now and then. After each change, the updated census must
// be equal to one for which all URLs are counted.
func TestUpdate(t *testing.T) {
	counted, again := 0, 0
	for seed := range uint64(5) {
		w := newWorld(t, seed)
		for step := range 40 {
			switch w.random.IntN(30) {
			case 0, 1, 2:
				w.merge()
			case 3:
				w.set()
			case 4, 5:
				w.fetch()
			case 6:
				w.quarantine()
			case 11:
				w.erase()
			case 7, 8, 9, 10:
				w.clock.Advance(time.Duration(w.random.IntN(int(12 * time.Hour))))
			default:
				w.learn()
			}
			got, some := w.update(t.Context(), w.read())
			want, all := w.update(t.Context(), new(Census))
			again, counted = again+some, counted+all
			if diff := cmp.Diff(show(want, w.clock.Now()), show(got, w.clock.Now())); diff != "" {
				t.Fatalf("seed %d, step %d (-counted +updated):\n%s", seed, step, diff)
			}
			if w.random.IntN(3) > 0 {
				w.save(got)
			}
			s, books := w.survey()
			if wrong, err := w.read().Wrong(t.Context(), w.bucket, books, s, w.clock.Now()); err != nil || len(wrong) > 0 {
				t.Fatalf("seed %d, step %d: the saved census is wrong in %v, %v", seed, step, wrong, err)
			}
		}
	}
	if again == 0 || 10*again > 9*counted {
		t.Errorf("%d of %d URLs were counted again", again, counted)
	}
}

// TestOnePass: a pass ends with the part that reaches its size, and where a part is missing. A part that is larger than
// usual counts with all of its bytes, as in a bucket whose books are larger than maxParts parts of the usual size.
func TestOnePass(t *testing.T) {
	w := newWorld(t, 1)
	for range 300 {
		w.learn()
	}
	_, books := w.survey()
	whole := books.Divide(layout.Range{}, minPart)
	if len(whole) < 12 {
		t.Fatalf("%d parts, want more", len(whole))
	}
	half := layout.Range{From: whole[0].From, To: whole[5].To}
	for _, of := range []struct {
		name   string
		ranges []layout.Range
		most   int64
		want   int
	}{
		{"a part is larger than a pass", whole, 1, 1},
		{"three parts", whole, 3 * minPart, 3},
		{"a large part", []layout.Range{half, whole[6], whole[7]}, 3 * minPart, 1},
		{"a missing part", []layout.Range{whole[0], whole[1], whole[3]}, 9 * minPart, 2},
		{"few parts", whole[:2], 9 * minPart, 2},
	} {
		if n, bytes := onePass(books, of.ranges, of.most); n != of.want || bytes < int64(n)*minPart {
			t.Errorf("%s: %d ranges of %d bytes in one pass, want %d", of.name, n, bytes, of.want)
		}
	}
}
