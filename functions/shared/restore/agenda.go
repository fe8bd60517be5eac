package restore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

const (
	wholeSearch = 24 * time.Hour // time between two searches of all books of a partition
	// A list has at most listSize URLs, so that few are in memory at once. A piece of a list, which is read
	// as a whole, has at most pieceSize.
	listSize  = 128 * pieceSize
	pieceSize = 256
	maxLists  = 2048 // greatest number of lists of an agenda
)

// agenda says which URLs of a storage partition become due before all its books are searched again. So
// until then, a search for due URLs reads only new books, and those pieces of lists whose time has come:
// its cost depends on the number of URLs that are due, and not on the number of all URLs.
//
// An agenda is in Redis, as JSON; its lists are in the bucket. If Redis loses it, or if a list is lost,
// all books are searched at once. A listed URL may have been requested since it was listed. This does no
// harm: the frontier then leaves it as it is (see frontier.Frontier.Renew).
type agenda struct {
	Settings string    `json:"settings"` // fingerprint of the settings, which say when a URL is due
	Until    time.Time `json:"until"`    // time of the next search of all books
	Books    []string  `json:"books"`    // keys of the books that were searched
	Lists    []list    `json:"lists"`    // URLs in these books that become due before Until

	*Frontiers `json:"-"`
	storage    layout.Partition
	coming     []coming // URLs for the next list, which is not in Lists yet
}

// list is an object with the last final outcomes of URLs that become due (see layout.DueKey). It
// consists of pieces, in the order in which their URLs become due.
type list struct {
	Key    string  `json:"key"`
	Pieces []piece `json:"pieces"`
}

// piece is a range of the bytes of a list: a book without links.
type piece struct {
	// Next is the earliest time at which a URL of the piece becomes due, of those that no search has queued.
	Next   time.Time `json:"next"`
	Offset int64     `json:"offset"`
	Length int64     `json:"length"`
}

// coming is the last final outcome of a URL, and the time at which the URL becomes due.
type coming struct {
	at   time.Time
	last book.Outcome
}

// errListLost means that a list of an agenda is absent or damaged.
var errListLost = errors.New("a list of URLs that become due is lost")

func agendaKey(storage layout.Partition) string { return "due:" + storage.String() }

// readAgenda reads the agenda of a storage partition. If there is none, the result is an agenda whose
// time is over.
func (f *Frontiers) readAgenda(ctx context.Context, storage layout.Partition) (*agenda, error) {
	a := &agenda{Frontiers: f, storage: storage}
	content, err := f.Redis.Get(ctx, agendaKey(storage)).Bytes()
	if errors.Is(err, redis.Nil) {
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, a); err != nil {
		f.Log.WarnContext(ctx, "the list of what becomes due cannot be read; all books are searched", "partition", storage, "error", err)
		return &agenda{Frontiers: f, storage: storage}, nil
	}
	return a, nil
}

// newAgenda returns an agenda for a search of all books that begins now. It deletes all lists of the
// partition: those of the agenda before, and those of searches that were killed. They may have URLs that
// takedowns forget now.
func (f *Frontiers) newAgenda(ctx context.Context, storage layout.Partition, fingerprint string) (*agenda, error) {
	objects, err := blob.List(ctx, f.Bucket, layout.DuePrefix(storage))
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, object := range objects {
		if !layout.IsForeign(object.Key) {
			keys = append(keys, object.Key)
		}
	}
	a := &agenda{Frontiers: f, Settings: fingerprint, Until: f.Now().Add(wholeSearch), storage: storage}
	return a, collect.Delete(ctx, f.Bucket, f.Now, keys)
}

// holds reports whether an agenda can be used now, under the settings with the given fingerprint. It cannot if its
// time is over, or if it was made by a clock that was ahead.
func (a *agenda) holds(now time.Time, fingerprint string) bool {
	return a.Settings == fingerprint && now.Before(a.Until) && !a.Until.After(now.Add(wholeSearch))
}

// save writes the agenda into Redis, after it has put the URLs in a.coming into a list. Then it deletes
// the lists of which all URLs have been queued.
func (a *agenda) save(ctx context.Context) error {
	if err := a.put(ctx); err != nil {
		return err
	}
	var over []string
	a.Lists = slices.DeleteFunc(a.Lists, func(l list) bool {
		if len(l.Pieces) == 0 {
			over = append(over, l.Key)
		}
		return len(l.Pieces) == 0
	})
	content, err := json.Marshal(a)
	if err == nil {
		err = a.Redis.Set(ctx, agendaKey(a.storage), content, 0).Err()
	}
	if err != nil {
		return err
	}
	return collect.Delete(ctx, a.Bucket, a.Now, over)
}

// add adds a URL, which must become due before a.Until. If there are as many lists as there may be, add
// instead moves a.Until to the time at which the URL becomes due.
func (a *agenda) add(ctx context.Context, c coming) error {
	if len(a.Lists) >= maxLists {
		a.Until = c.at
		return nil
	}
	if a.coming = append(a.coming, c); len(a.coming) < listSize {
		return nil
	}
	return a.put(ctx)
}

// put puts the URLs in a.coming into a list in the bucket.
func (a *agenda) put(ctx context.Context) error {
	if len(a.coming) == 0 {
		return nil
	}
	slices.SortFunc(a.coming, func(c, d coming) int { return cmp.Or(c.at.Compare(d.at), c.last.Compare(d.last)) })
	var l list
	var content []byte
	for some := range slices.Chunk(a.coming, pieceSize) {
		outcomes := make([]book.Outcome, len(some))
		for i, c := range some {
			outcomes[i] = c.last
		}
		encoded, err := book.Encode(book.Book{Outcomes: outcomes})
		if err != nil {
			return err
		}
		l.Pieces = append(l.Pieces, piece{some[0].at, int64(len(content)), int64(len(encoded))})
		content = append(content, encoded...)
	}
	l.Key, a.coming = layout.DueKey(a.storage, content), nil
	if slices.ContainsFunc(a.Lists, func(other list) bool { return other.Key == l.Key }) { // as after a merge of books
		return nil
	}
	a.Lists = append(a.Lists, l)
	return blob.CreateOnce(ctx, a.Bucket, l.Key, content)
}

// read returns the outcomes of a piece of a list.
func (a *agenda) read(ctx context.Context, l *list, p piece) ([]book.Outcome, error) {
	content, err := a.Bucket.Get(ctx, l.Key, blob.Range{Offset: p.Offset, Length: p.Length})
	if err != nil && !errors.Is(err, blob.ErrAbsent) {
		return nil, fmt.Errorf("cannot read %s: %w", l.Key, err)
	}
	var learnt book.Book
	if err == nil {
		learnt, err = book.Decode(content)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errListLost, l.Key, err)
	}
	return learnt.Outcomes, nil
}
