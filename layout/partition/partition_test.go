package partition_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// world is a bucket and a clock that tests advance.
type world struct {
	*testing.T
	bucket *memblob.Bucket
	now    time.Time
}

func newWorld(t *testing.T) *world {
	return &world{T: t, bucket: memblob.New(), now: noon}
}

func (w *world) clock() time.Time { return w.now }

func (w *world) open() *partition.Partition {
	w.Helper()
	p, err := partition.Open(w.Context(), w.bucket, 0, w.clock)
	w.check(err)
	return p
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) commit(p *partition.Partition, edit func(*partition.Edit) error) {
	w.Helper()
	w.check(p.Commit(w.Context(), edit))
}

func (w *world) putPackage(p *partition.Partition) partition.Package {
	w.Helper()
	t, err := p.PutPackage(w.Context(), layout.PackageName{Base: 2, Created: noon}, []byte("package"), 3)
	w.check(err)
	return t
}

// segment returns the bytes of a segment with the given number of documents.
func (w *world) segment(documents int) []byte {
	w.Helper()
	b := segment.NewBuilder(nil)
	for i := range documents {
		url := fmt.Sprint("http://a.example/", i)
		w.check(b.Add(&segment.Document{ID: layout.IdentityOf(url), URL: url, Site: "a.example", Package: "p"}, func(func(segment.Token) bool) {}))
	}
	content, err := b.Finish()
	w.check(err)
	return content
}

// listed commits a segment with four documents, from packages 7 and 8.
func (w *world) listed() (*partition.Partition, manifest.Segment) {
	w.Helper()
	p := w.open()
	t, err := p.PutSegment(w.Context(), w.segment(4))
	w.check(err)
	w.commit(p, func(e *partition.Edit) error {
		return e.AddSegment(t, manifest.Part{Package: 7, Documents: 3}, manifest.Part{Package: 8, Documents: 1})
	})
	return p, p.Manifest().Segments[0]
}

// TestLostManifests stores a package, book or segment in a partition, and then deletes the
// partition's only generation. Opening the partition, and committing to it, must fail with ErrLost,
// and no new generation may appear.
func TestLostManifests(t *testing.T) {
	for name, put := range map[string]func(*world, *partition.Partition) error{
		"package": func(w *world, p *partition.Partition) error { w.putPackage(p); return nil },
		"book": func(w *world, p *partition.Partition) error {
			_, err := p.PutBook(w.Context(), []byte("book"), 1, 1)
			return err
		},
		"segment": func(w *world, p *partition.Partition) error {
			_, err := p.PutSegment(w.Context(), w.segment(1))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.open()
			w.check(put(w, p))
			if p.Manifest().Generation != 1 {
				t.Fatalf("the object was put in generation %d", p.Manifest().Generation)
			}
			w.check(w.bucket.Delete(t.Context(), layout.ManifestKey(0, 1)))
			w.check(w.bucket.Delete(t.Context(), layout.HintKey(0)))
			if _, err := partition.Open(t.Context(), w.bucket, 0, w.clock); !errors.Is(err, partition.ErrLost) || !isFault(err) {
				t.Errorf("Open: %v", err)
			}
			err := p.Commit(t.Context(), func(*partition.Edit) error { return nil })
			if !errors.Is(err, partition.ErrLost) || !isFault(err) {
				t.Errorf("Commit of one who knew an earlier generation: %v", err)
			}
			if left, err := manifest.Read(t.Context(), w.bucket, 0); err != nil || left.Generation != 0 {
				t.Errorf("generation %d was begun, %v", left.Generation, err)
			}
		})
	}
}

// TestNewPartition checks that a partition that has only objects of other programs and spool
// objects counts as new: its manifests do not count as lost.
func TestNewPartition(t *testing.T) {
	w := newWorld(t)
	w.check(w.bucket.Create(t.Context(), layout.PackagePrefix(0)+"README", []byte("?")))
	w.check(w.bucket.Create(t.Context(), layout.SpoolKey(0, layout.Version{Epoch: 1, Token: 1}), []byte("?")))
	p := w.open()
	w.check(p.Begin(t.Context()))
	w.check(w.open().Begin(t.Context())) // it has begun already
	if m := w.open().Manifest(); m.Generation != 1 {
		t.Errorf("generation %d", m.Generation)
	}
	counted := countblob.New(w.bucket)
	if _, err := partition.Open(t.Context(), counted, 0, w.clock); err != nil || counted.Counts().List > 0 {
		t.Errorf("%v, requests %+v", err, counted.Counts())
	}
}

// TestStaleTickets checks that a stored object can be listed for an hour, and only as long as its
// key is not condemned (marked for deletion).
func TestStaleTickets(t *testing.T) {
	for name, harm := range map[string]func(w *world, key string){
		"an hour ago": func(w *world, _ string) { w.now = w.now.Add(partition.Fresh) },
		"condemned": func(w *world, key string) {
			w.commit(w.open(), func(e *partition.Edit) error {
				e.CondemnUnlisted(key)
				if got := e.Manifest().Condemned; len(got) != 1 || !got[0].Erase {
					t.Errorf("condemned %v", got)
				}
				return nil
			})
		},
	} {
		w := newWorld(t)
		p := w.open()
		ticket := w.putPackage(p)
		harm(w, ticket.Key)
		add := func(e *partition.Edit) error { return e.AddPackage(ticket) }
		if err := p.Commit(t.Context(), add); !errors.Is(err, partition.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
		w.check(p.Reload(t.Context()))
		ticket = w.putPackage(p) // under another name if the key is condemned
		w.commit(p, add)
		if err := p.Commit(t.Context(), add); !errors.Is(err, partition.ErrStale) {
			t.Errorf("%s: listed twice: %v", name, err)
		}
	}
}

// TestReplacePackage checks a package that has replaced another: it keeps the ID of the former
// package, and is also found by the key of the former package.
func TestReplacePackage(t *testing.T) {
	w := newWorld(t)
	p := w.open()
	first := w.putPackage(p)
	w.commit(p, func(e *partition.Edit) error { return e.AddPackage(first) })
	second := w.putPackage(p)
	if second.Key == first.Key {
		t.Fatalf("both are %s", first.Key)
	}
	replace := func(e *partition.Edit) error { return e.ReplacePackage(first.Key, second) }
	w.commit(p, replace)
	m := p.Manifest()
	if pkg := m.Package(first.Key); pkg == nil || pkg.Key != second.Key || pkg.ID != 0 || !m.IsCondemned(first.Key) {
		t.Errorf("listed %+v, condemned %+v", m.Packages, m.Condemned)
	}
	if err := p.Commit(t.Context(), replace); !errors.Is(err, partition.ErrStale) {
		t.Errorf("once more: %v", err)
	}
	third := w.putPackage(p)
	if third.Key == first.Key || third.Key == second.Key {
		t.Errorf("a name was given again: %s", third.Key)
	}
}

func TestReplaceBooks(t *testing.T) {
	for name, test := range map[string]struct {
		old  []string
		want string // the list of books after the edit, in which n is the new book; before the edit it was a, b, c, d
	}{
		"in the place of the first": {[]string{"c", "b"}, "a n d"},
		"all":                       {[]string{"d", "a", "b", "c"}, "n"},
		"one is not listed":         {[]string{"a", "z"}, ""},
	} {
		w := newWorld(t)
		p := w.open()
		keys := map[string]string{"z": "books/0000/z.book"}
		names := make(map[string]string)
		put := func(name string) partition.Book {
			ticket, err := p.PutBook(t.Context(), []byte("the book "+name), 1, 0)
			w.check(err)
			keys[name], names[ticket.Key] = ticket.Key, name
			return ticket
		}
		w.commit(p, func(e *partition.Edit) error {
			for _, name := range []string{"a", "b", "c", "d"} {
				ticket := put(name)
				w.check(errors.Join(e.AddBook(ticket), e.AddBook(ticket))) // adds the book once
			}
			return nil
		})
		merged := put("n")
		var old []string
		for _, name := range test.old {
			old = append(old, keys[name])
		}
		err := p.Commit(t.Context(), func(e *partition.Edit) error { return e.ReplaceBooks(old, merged) })
		if test.want == "" {
			if !errors.Is(err, partition.ErrStale) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		w.check(err)
		var got []string
		for _, b := range p.Manifest().Books {
			got = append(got, names[b.Key])
		}
		if strings.Join(got, " ") != test.want || len(p.Manifest().Condemned) != len(old) {
			t.Errorf("%s: listed %v, condemned %+v", name, got, p.Manifest().Condemned)
		}
	}
}

// TestConsumedOnce lets fifty committers record twenty batches as consumed at the same time. Each
// batch must be recorded once. Then the test closes one batch, which removes its record. Two
// attempts to record a batch again must now fail: that of the closed batch, and that of a batch
// which is still recorded.
func TestConsumedOnce(t *testing.T) {
	w := newWorld(t)
	const committers, batches = 50, 20
	var all sync.WaitGroup
	for i := range committers {
		all.Go(func() {
			p, err := partition.Open(t.Context(), w.bucket, 0, w.clock)
			if err == nil {
				err = p.Commit(t.Context(), func(e *partition.Edit) error {
					return e.Consume("", layout.Version{Epoch: 1, Token: uint64(i % batches)})
				})
			}
			if err != nil && !errors.Is(err, partition.ErrStale) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	p := w.open()
	if m := p.Manifest(); m.Generation != batches || len(m.Consumed) != batches {
		t.Errorf("generation %d, %d batches", m.Generation, len(m.Consumed))
	}
	closed := layout.Version{Epoch: 1, Token: 7}
	w.commit(p, func(e *partition.Edit) error {
		if !e.Close(func(c manifest.Consumed) bool { return c.Batch == closed }) {
			t.Error("nothing was closed")
		}
		return nil
	})
	for _, given := range []layout.Version{closed, {Epoch: 1, Token: 8}} {
		err := p.Commit(t.Context(), func(e *partition.Edit) error { return e.Consume("", given) })
		if !errors.Is(err, partition.ErrStale) {
			t.Errorf("%s is consumed again: %v", given, err)
		}
	}
}

// TestEveryFault lets each call of the store fail in turn. Each time, a package must be stored and
// listed once, and its batch must be recorded once in Manifest.Consumed.
func TestEveryFault(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		w := newWorld(t)
		faulty := faultblob.New(w.bucket, decide)
		given := layout.Version{Epoch: 1, Token: 1}
		pack := func() error {
			p, err := partition.Open(t.Context(), faulty, 0, w.clock)
			if err != nil || p.Manifest().HasConsumed(given) {
				return err
			}
			ticket, err := p.PutPackage(t.Context(), layout.PackageName{Base: 2, Created: noon}, []byte("package"), 3)
			if err != nil {
				return err
			}
			return p.Commit(t.Context(), func(e *partition.Edit) error {
				return errors.Join(e.Consume("", given), e.AddPackage(ticket))
			})
		}
		for range 3 { // the first may fail
			if err := pack(); err != nil && !errors.Is(err, blob.ErrRetryable) && !errors.Is(err, partition.ErrStale) {
				t.Fatal(err)
			}
		}
		if m := w.open().Manifest(); len(m.Packages) != 1 || len(m.Consumed) != 1 {
			t.Errorf("%d packages, %d batches", len(m.Packages), len(m.Consumed))
		}
	})
}

func TestMask(t *testing.T) {
	w := newWorld(t)
	p, s := w.listed()
	mask := func(docs ...uint32) manifest.Segment {
		w.commit(p, func(e *partition.Edit) error {
			return e.Mask(t.Context(), map[string]*roaring.Bitmap{s.Key: roaring.BitmapOf(docs...)})
		})
		return p.Manifest().Segments[0]
	}
	if s := mask(); s.Deletions != nil {
		t.Errorf("deletions of nothing: %+v", s.Deletions)
	}
	masked := mask(1, 3)
	dead, err := partition.Dead(t.Context(), w.bucket, &masked)
	if err != nil || !slices.Equal(dead.ToArray(), []uint32{1, 3}) || masked.Live() != 2 || !strings.HasPrefix(masked.Deletions.Key, fmt.Sprintf("overlays/0000/%012d_", p.Manifest().Generation)) {
		t.Errorf("dead %v, %v, listed %+v", dead, err, masked)
	}
	if again := mask(1, 3); *again.Deletions != *masked.Deletions {
		t.Errorf("the same deletions have another overlay: %+v", again.Deletions)
	}
	stored, err := w.bucket.Get(t.Context(), masked.Deletions.Key, blob.Range{})
	if err != nil || !bytes.Equal(masked.Deletions.Content(), stored) {
		t.Errorf("the copy is %q, the overlay %q, %v", masked.Deletions.Content(), stored, err)
	}
	wrong := *masked.Deletions
	if wrong.Copy = base64.StdEncoding.EncodeToString(slices.Concat(stored, stored)); wrong.Content() != nil {
		t.Error("a copy of another overlay is taken")
	}
	pkg := w.putPackage(p)
	w.commit(p, func(e *partition.Edit) error { return e.AddPackage(pkg) })
	if err := p.Commit(t.Context(), func(e *partition.Edit) error { return e.DropPackage(t.Context(), "packages/none") }); !errors.Is(err, partition.ErrStale) {
		t.Errorf("a package that is not there is dropped: %v", err)
	}
	w.commit(p, func(e *partition.Edit) error { return e.DropPackage(t.Context(), pkg.Key) })
	if m := p.Manifest(); len(m.Packages) != 0 || !m.IsCondemned(pkg.Key) || *m.Segments[0].Deletions != *masked.Deletions {
		t.Errorf("dropped: %+v", m)
	}
	w.commit(p, func(e *partition.Edit) error {
		return e.Mask(t.Context(), map[string]*roaring.Bitmap{s.Key: roaring.BitmapOf(0, 1, 2, 3)})
	})
	if m := p.Manifest(); len(m.Segments) != 0 || !m.IsCondemned(s.Key) {
		t.Errorf("nothing lives, and listed are %+v", m.Segments)
	}
}

// TestCompared checks the field Compared of a segment's entry. MarkCompared must set the field, also
// if documents have died since the comparison. But it must leave the field unset if documents have
// become alive since then. Unmask, which makes all documents alive, must unset the field. A segment
// that replaces another one must take over the field's value.
func TestCompared(t *testing.T) {
	w := newWorld(t)
	p, s := w.listed()
	mask := func(docs ...uint32) {
		w.commit(p, func(e *partition.Edit) error {
			return e.Mask(t.Context(), map[string]*roaring.Bitmap{s.Key: roaring.BitmapOf(docs...)})
		})
	}
	compared := func(then manifest.Segment, want bool) {
		t.Helper()
		w.commit(p, func(e *partition.Edit) error { e.MarkCompared(then); return nil })
		if got := p.Manifest().Segments[0].Compared; got != want {
			t.Errorf("compared: %v, want %v", got, want)
		}
	}
	mask(1)
	then := p.Manifest().Segments[0]
	w.commit(p, func(e *partition.Edit) error { e.Unmask(s.Key); return nil })
	compared(then, false) // document 1 is alive again
	then = p.Manifest().Segments[0]
	mask(1, 3)
	compared(then, true) // fewer are alive
	w.commit(p, func(e *partition.Edit) error { e.Unmask(s.Key); return nil })
	if p.Manifest().Segments[0].Compared {
		t.Error("documents are alive again, and not compared again")
	}
	for _, want := range []bool{false, true} {
		if want {
			compared(p.Manifest().Segments[0], true)
		}
		former := p.Manifest().Segments[0].Key
		merged, err := p.PutSegment(t.Context(), w.segment(5+len(p.Manifest().Condemned)))
		w.check(err)
		w.commit(p, func(e *partition.Edit) error {
			return e.ReplaceSegments([]string{former}, merged, manifest.Part{Package: 7, Documents: 5})
		})
		if got := p.Manifest().Segments[0].Compared; got != want {
			t.Errorf("merged of compared segments: %v, want %v", got, want)
		}
	}
}

// TestDamagedSegments checks that a segment or overlay that differs from its entry in the manifest
// counts as damaged.
func TestDamagedSegments(t *testing.T) {
	for name, harm := range map[string]func(w *world, s *manifest.Segment) error{
		"of another number":  func(_ *world, s *manifest.Segment) error { s.Deletions.Documents++; return nil },
		"of other documents": func(_ *world, s *manifest.Segment) error { s.Documents = 5; return nil },
		"damaged": func(w *world, s *manifest.Segment) error {
			return w.bucket.Replace(w.Context(), s.Deletions.Key, []byte("?"))
		},
	} {
		w := newWorld(t)
		p, s := w.listed()
		if opened, err := partition.OpenSegment(t.Context(), segment.Ranges{Bucket: w.bucket}, &s); err != nil || opened.Documents() != 4 {
			t.Fatal(err)
		}
		w.commit(p, func(e *partition.Edit) error {
			return e.Mask(t.Context(), map[string]*roaring.Bitmap{s.Key: roaring.BitmapOf(1)})
		})
		s = p.Manifest().Segments[0]
		deletions := *s.Deletions
		s.Deletions = &deletions
		w.check(harm(w, &s))
		if _, err := partition.Dead(t.Context(), w.bucket, &s); !errors.Is(err, segment.ErrDamaged) || !strings.Contains(err.Error(), s.Deletions.Key) {
			t.Errorf("%s: %v", name, err)
		}
		s.Documents = 9
		if _, err := partition.OpenSegment(t.Context(), segment.Ranges{Bucket: w.bucket}, &s); !partition.IsDamaged(err) || !strings.Contains(err.Error(), s.Key) {
			t.Errorf("%s: a segment of another number of documents: %v", name, err)
		}
	}
}

// TestPutSegment checks that PutSegment does not use a key that is condemned (marked for deletion),
// or under which other bytes are stored.
func TestPutSegment(t *testing.T) {
	w := newWorld(t)
	p, first := w.listed()
	put := func() manifest.Segment {
		ticket, err := p.PutSegment(t.Context(), w.segment(4))
		w.check(err)
		return ticket.Segment
	}
	if again := put(); again.Key != first.Key {
		t.Errorf("the same again: %+v", again)
	}
	w.commit(p, func(e *partition.Edit) error { e.UnlistSegment(first.Key, true); return nil })
	second := put()
	if second.Key == first.Key {
		t.Errorf("condemned: %+v", second)
	}
	w.check(w.bucket.Replace(t.Context(), second.Key, []byte("?")))
	w.commit(p, func(*partition.Edit) error { return nil })
	if third := put(); third.Key == first.Key || third.Key == second.Key {
		t.Errorf("damaged: %+v", third)
	}
	if _, err := p.PutSegment(t.Context(), []byte("?")); err == nil {
		t.Error("what is no segment was put")
	}
}

// TestReplaceSegments replaces two segments in the middle of the list by a merged one. The merged
// segment must take their place in the list, and not come last.
func TestReplaceSegments(t *testing.T) {
	w := newWorld(t)
	p := w.open()
	var keys []string
	for n := range 4 {
		ticket, err := p.PutSegment(t.Context(), w.segment(n+1))
		w.check(err)
		w.commit(p, func(e *partition.Edit) error {
			return e.AddSegment(ticket, manifest.Part{Package: uint32(n), Documents: n + 1})
		})
		keys = append(keys, ticket.Key)
	}
	merged, err := p.PutSegment(t.Context(), w.segment(9))
	w.check(err)
	replace := func(e *partition.Edit) error {
		return e.ReplaceSegments([]string{keys[2], keys[1]}, merged, manifest.Part{Package: 2, Documents: 9})
	}
	w.commit(p, replace)
	var got []string
	for _, s := range p.Manifest().Segments {
		got = append(got, s.Key)
	}
	if diff := cmp.Diff([]string{keys[0], merged.Key, keys[3]}, got); diff != "" || len(p.Manifest().Condemned) != 2 {
		t.Errorf("condemned %+v, listed (-want +got):\n%s", p.Manifest().Condemned, diff)
	}
	if err := p.Commit(t.Context(), replace); !errors.Is(err, partition.ErrStale) {
		t.Errorf("once more: %v", err)
	}
}

// TestUnchanged checks that an edit that makes changes and then returns ErrUnchanged leaves the
// generation as it was.
func TestUnchanged(t *testing.T) {
	w := newWorld(t)
	p, _ := w.listed()
	before := *p.Manifest()
	w.commit(p, func(e *partition.Edit) error {
		e.UnlistSegment(before.Segments[0].Key, false)
		return partition.ErrUnchanged
	})
	if diff := cmp.Diff(before.Segments, p.Manifest().Segments); diff != "" || p.Manifest().Generation != before.Generation {
		t.Errorf("generation %d (-want +got):\n%s", p.Manifest().Generation, diff)
	}
	want := errors.New("no")
	if err := p.Commit(t.Context(), func(*partition.Edit) error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}
