package account

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

const host = "http://docs.example/"

// learnt returns a book with one link and one outcome. The link leads from the seed to a page, whose
// address contains the token. The outcome says that the request for this page failed.
func learnt(t *testing.T, token uint64) book.Book {
	t.Helper()
	a := parse(t, host+layout.Version{Token: token}.String())
	o := outcome(token, book.Failed, 1)
	o.URL, o.Place = a.URL, a.Place
	l := link(a.URL, 1, 0)
	l.Place, l.Region = a.Place, book.Text
	return book.Book{Outcomes: []book.Outcome{o}, Links: []book.Link{l}}
}

func create(t testing.TB, bucket blob.Bucket, key string, content []byte) {
	t.Helper()
	if err := bucket.Create(t.Context(), key, content); err != nil {
		t.Fatal(err)
	}
}

// addSpool stores a spool object with the outcomes and links of a book. The batch of the spool object
// is that of the book's first outcome.
func addSpool(t testing.TB, bucket blob.Bucket, b book.Book) {
	t.Helper()
	batch := b.Outcomes[0].Version
	content, err := spool.Encode(spool.Spool{Ledger: spool.Ledger{Batch: batch, Ended: noon, Outcomes: b.Outcomes, Links: b.Links}})
	if err != nil {
		t.Fatal(err)
	}
	create(t, bucket, layout.SpoolKey(0, batch), content)
}

func commit(t testing.TB, bucket blob.Bucket, edit func(*manifest.Manifest)) {
	t.Helper()
	_, err := manifest.Commit(t.Context(), bucket, 0, func() time.Time { return noon }, func(m *manifest.Manifest) error {
		edit(m)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// addBook stores and commits a book, and returns its key.
func addBook(t testing.TB, bucket blob.Bucket, b book.Book) (key string) {
	t.Helper()
	content, err := book.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	key = layout.BookKey(0, layout.ContentHash(content))
	create(t, bucket, key, content)
	commit(t, bucket, func(m *manifest.Manifest) { m.Books = append(m.Books, manifest.Book{Key: key}) })
	return key
}

// newBucket returns a bucket with four batches, which have the tokens 1 to 4. Batches 1 and 2 have
// books; batches 2, 3 and 4 have spool objects. The manifest lists batches 2 and 4 as packed, and
// the spool object of batch 4 as damaged. The result books holds the keys of the books.
func newBucket(t *testing.T) (bucket *memblob.Bucket, s *settings.Settings, books []string) {
	t.Helper()
	bucket = memblob.New()
	s = publish(t, bucket, nil)
	books = []string{addBook(t, bucket, learnt(t, 1)), addBook(t, bucket, learnt(t, 2))}
	for token := uint64(2); token <= 4; token++ {
		addSpool(t, bucket, learnt(t, token))
	}
	commit(t, bucket, func(m *manifest.Manifest) {
		m.Consumed = append(m.Consumed,
			manifest.Consumed{Batch: layout.Version{Epoch: 1, Token: 2}, At: noon},
			manifest.Consumed{Batch: layout.Version{Epoch: 1, Token: 4}, At: noon, Damaged: "its footer"})
	})
	return bucket, s, books
}

func states(t *testing.T, b *Bucket) map[string]State {
	t.Helper()
	all := make(map[string]State)
	for u, err := range b.All(t.Context(), layout.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimPrefix(u.Address.URL, host)] = u.State
	}
	return all
}

func versionName(token uint64) string { return layout.Version{Token: token}.String() }

func TestRead(t *testing.T) {
	bucket, s, _ := newBucket(t)
	b, err := Read(t.Context(), bucket, s)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]State{"": Pending, versionName(1): Failed, versionName(2): Failed, versionName(3): Failed}
	if diff := cmp.Diff(want, states(t, b)); diff != "" {
		t.Errorf("books and unconsumed spool (-want +got):\n%s", diff)
	}
	if len(b.Manifests) != 1 || b.Manifests[0].Generation != 3 || b.Damaged != nil || b.lost() != nil {
		t.Errorf("manifests %+v, damaged %v, lost %v", b.Manifests, b.Damaged, b.lost())
	}
}

// The spool holds a damaged spool object, and an object whose key is not that of a spool object. Read
// must report the damaged object, and ignore the other one.
func TestReadGoesOnWithoutSpoolThatIsDamaged(t *testing.T) {
	bucket, s, _ := newBucket(t)
	create(t, bucket, layout.SpoolKey(0, layout.Version{Epoch: 1, Token: 5}), []byte("no spool"))
	create(t, bucket, layout.SpoolPrefix(0)+"notes.txt", nil)
	b, err := Read(t.Context(), bucket, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Damaged) != 1 || len(states(t, b)) != 4 {
		t.Errorf("damaged %v, states %v", b.Damaged, states(t, b))
	}
}

func TestSpoolThatIsClosed(t *testing.T) {
	bucket, s, _ := newBucket(t)
	commit(t, bucket, func(m *manifest.Manifest) { m.Close(layout.Version{Epoch: 1, Token: 3}) })
	addSpool(t, bucket, learnt(t, 5))
	b, err := Read(t.Context(), bucket, s)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]State{"": Pending, versionName(1): Failed, versionName(2): Failed, versionName(5): Failed}
	if diff := cmp.Diff(want, states(t, b)); diff != "" {
		t.Errorf("without batch 3, which comes too late (-want +got):\n%s", diff)
	}
	if len(b.Spooled) != 1 || b.Spooled[0].Batch.Token != 5 {
		t.Errorf("spooled %v, want batch 5", b.Spooled)
	}
}

// TestBookThatIsDamagedInItsMiddle reads a book that is damaged only behind its first blocks. None of
// its outcomes may count, not even those in the first blocks.
func TestBookThatIsDamagedInItsMiddle(t *testing.T) {
	bucket, s, _ := newBucket(t)
	key := addBook(t, bucket, crawled(t, 1, 100))
	content, err := bucket.Get(t.Context(), key, blob.Range{})
	if err != nil {
		t.Fatal(err)
	}
	for at, what := range map[int]string{len(content) / 2: "a block", len(content) - 1500: "the sources"} {
		content[at]++
		if err := bucket.Replace(t.Context(), key, content); err != nil {
			t.Fatal(err)
		}
		content[at]--
		b, err := Survey(t.Context(), bucket, s)
		if err != nil {
			t.Fatal(err)
		}
		all := judged(t, b.All(t.Context(), layout.Range{}))
		if lost := b.lost(); len(lost) != 1 || lost[0].Key != key || !errors.Is(lost[0].Err, book.ErrDamaged) || len(all) != 4 {
			t.Errorf("%s: lost %v, %d URLs", what, lost, len(all))
		}
		strict, err := Read(t.Context(), bucket, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, err = range strict.All(t.Context(), layout.Range{}) {
			if err != nil {
				break
			}
		}
		if !isFault(err) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: All after Read: %v, want a fault with the key of the book", what, err)
		}
	}
}

func TestLostBook(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, bucket blob.Bucket, key string) error{
		"absent": func(t *testing.T, bucket blob.Bucket, key string) error { return bucket.Delete(t.Context(), key) },
		"damaged": func(t *testing.T, bucket blob.Bucket, key string) error {
			return bucket.Replace(t.Context(), key, []byte("?"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bucket, s, books := newBucket(t)
			if err := harm(t, bucket, books[0]); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(t.Context(), bucket, s); !isFault(err) || !strings.Contains(err.Error(), books[0]) {
				t.Errorf("Read: %v, want a fault with the key of the book", err)
			}
			b, err := Survey(t.Context(), bucket, s)
			if err != nil {
				t.Fatal(err)
			}
			if lost := b.lost(); len(lost) != 1 || !strings.Contains(lost[0].Err.Error(), books[0]) || len(states(t, b)) != 3 {
				t.Errorf("Survey: lost %v, states %v", lost, states(t, b))
			}
		})
	}
}

func isFault(err error) bool {
	_, is := errors.AsType[*partition.Fault](err)
	return is && strings.Contains(err.Error(), "run bucketsearch verify --repair")
}

// If manifests are lost, it is not known which books there are. Read must fail then. Otherwise its
// callers would take the URLs in these books for unknown. Survey must return what is left, and report
// the loss.
func TestLostGenerations(t *testing.T) {
	bucket, s, _ := newBucket(t)
	var keys []string
	for _, prefix := range []string{layout.Manifests, layout.Hints} {
		for object, err := range bucket.List(t.Context(), prefix, "") {
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, object.Key)
		}
	}
	for _, key := range keys {
		if err := bucket.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(t.Context(), bucket, s); !isFault(err) || !errors.Is(err, partition.ErrLost) {
		t.Errorf("Read: %v, want a fault", err)
	}
	b, err := Survey(t.Context(), bucket, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Spooled) != 3 || len(b.Faults()) != 1 || !isFault(b.Faults()[0]) {
		t.Errorf("Survey: %d spool objects, faults %v", len(b.Spooled), b.Faults())
	}
}

// TestSpoolThatIsConsumedMeanwhile: a spool object is listed, and then packed and deleted before it
// can be read. Read must start over, and take the outcomes of the batch from the book.
func TestSpoolThatIsConsumedMeanwhile(t *testing.T) {
	bucket, s, _ := newBucket(t)
	meddling := &meddler{Bucket: bucket}
	objects := layout.SpoolKey(0, layout.Version{Epoch: 1, Token: 3})
	meddling.before = func(key string) {
		if key == objects {
			addBook(t, bucket, learnt(t, 3))
			if err := bucket.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, err := Read(t.Context(), meddling, s)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	want := map[string]State{"": Pending, versionName(1): Failed, versionName(2): Failed, versionName(3): Failed}
	if diff := cmp.Diff(want, states(t, b)); diff != "" || len(b.Manifests[0].Books) != 3 {
		t.Errorf("with the book that it was packed into (-want +got):\n%s", diff)
	}
	meddling.before = func(key string) { meddling.err = blob.ErrRetryable }
	if _, err := Survey(t.Context(), meddling, s); !errors.Is(err, blob.ErrRetryable) {
		t.Errorf("without a store: %v, want %v", err, blob.ErrRetryable)
	}
}

// TestSpoolThatIsAlwaysConsumedMeanwhile: in every attempt to read the account, a spool object is
// deleted just before it is read, and another one is added. Survey must give up with an error.
func TestSpoolThatIsAlwaysConsumedMeanwhile(t *testing.T) {
	bucket, s, _ := newBucket(t)
	next := uint64(3)
	meddling := &meddler{Bucket: bucket}
	meddling.before = func(key string) {
		if key == layout.SpoolKey(0, layout.Version{Epoch: 1, Token: next}) {
			if err := bucket.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			next += 2
			addSpool(t, bucket, learnt(t, next))
		}
	}
	if b, err := Survey(t.Context(), meddling, s); !errors.Is(err, blob.ErrAbsent) || b != nil {
		t.Errorf("Survey: %v, %v; want an error rather than an account without the batch", b, err)
	}
	if next != 3+2*maxSurveys {
		t.Errorf("ended at token %d", next)
	}
}

// meddler is a bucket that calls a function before every Get. Get fails with err if that is
// set.
type meddler struct {
	*memblob.Bucket
	before func(key string)
	err    error
}

func (m *meddler) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	m.before(key)
	if m.err != nil {
		return nil, m.err
	}
	return m.Bucket.Get(ctx, key, r)
}

// TestSpoolIsCleaned: a link in a spool object has a target with the parameter utm_source, which the
// collection drops. When the link is read, its target must lose the parameter, as it will when pack
// writes the link into a book. Otherwise the account would count several URLs for one page.
func TestSpoolIsCleaned(t *testing.T) {
	bucket, s, _ := newBucket(t)
	b := learnt(t, 5)
	for _, query := range []string{"?utm_source=a", "?utm_source=b", ""} {
		a := parse(t, host+"new"+query)
		l := link(a.URL, 1, 0)
		l.Place, l.Region = a.Place, book.Text
		b.Links = append(b.Links, l)
	}
	addSpool(t, bucket, b)
	read, err := Read(t.Context(), bucket, s)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]State{"": Pending, versionName(1): Failed, versionName(2): Failed, versionName(3): Failed, versionName(5): Failed, "new": Pending}
	if diff := cmp.Diff(want, states(t, read)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
