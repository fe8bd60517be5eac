package account

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// partSize is the approximate size, in bytes, of the parts into which a book is divided for
// concurrent reading. Each worker reads one part after another.
const partSize = 1 << 20

// errTooLarge means that a range has more URLs than an account may hold.
var errTooLarge = errors.New("too many URLs for one account")

// library holds the books that the manifests of all partitions list, and the spool objects that wait
// to be packed, each of them as a book in memory.
type library struct {
	books []*volume

	mu sync.Mutex // protects the field Err of all books
}

// volume is one book. Its Err is nil until the book turns out to be absent or damaged.
type volume struct {
	Unreadable
	reader *book.Reader
}

// open opens the books that the manifests list, and adds them to the library. A book that is absent
// or damaged is in the library, too, with its Err set.
func (l *library) open(ctx context.Context, bucket blob.Reader, manifests []manifest.Manifest) error {
	var listed []*volume
	for _, m := range manifests {
		for _, b := range m.Books {
			listed = append(listed, &volume{Unreadable: Unreadable{Partition: m.Partition, Key: b.Key}})
		}
	}
	l.books = append(l.books, listed...)
	return inParallel(ctx, requests, len(listed), func(ctx context.Context, i int) error {
		v := listed[i]
		reader, err := book.Open(ctx, newAhead(bucket, len(listed)), v.Key)
		v.reader = reader
		return l.note(v, err)
	})
}

// note returns err unchanged, unless it means that the book v is absent or damaged: then note
// stores it in v.Err and returns nil.
func (l *library) note(v *volume, err error) error {
	if !errors.Is(err, blob.ErrAbsent) && !errors.Is(err, book.ErrDamaged) {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	v.Err = err
	return nil
}

// lost returns the books that reading has found to be absent or damaged so far.
func (l *library) lost() []Unreadable {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lost []Unreadable
	for _, v := range l.books {
		if v.Err != nil {
			lost = append(lost, v.Unreadable)
		}
	}
	return lost
}

// account returns a new account of the URLs in a range, from all books that are neither absent nor damaged. If it
// finds damage in a book of which parts were added already, it begins again with an empty account, and leaves this
// book out. The parameter most is the greatest size of an account. If the range has more URLs, and can be divided,
// account fails with errTooLarge.
func (l *library) account(ctx context.Context, s *settings.Settings, within layout.Range, most int64) (*Account, error) {
	for {
		a, err := newAccount(s, within)
		if err != nil {
			return nil, err
		}
		before := len(l.lost())
		if err := l.fold(ctx, a, most); err != nil {
			return nil, err
		}
		if len(l.lost()) == before {
			return a, nil
		}
	}
}

// part is one book, and a range of the hash space: the outcomes and links of URLs in this range are
// read together. Several parts are read at the same time.
type part struct {
	*volume
	book.Part
}

// Sites reads the objects among the books and spool objects whose keys the function selects, and returns the sites
// (see layout.Place.Site) of all URLs in them that have an outcome or are the target of a link. Once the function enough
// returns true for the sites that are known so far, no further object is read. An object that turns out to be damaged is
// left out (see Faults).
func (l *library) Sites(ctx context.Context, selected func(key string) bool, enough func(sites map[uint32]bool) bool) (map[uint32]bool, error) {
	sites, over := make(map[uint32]bool), false
	var mu sync.Mutex // protects sites and over
	isOver := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return over
	}
	err := inParallel(ctx, 2*runtime.GOMAXPROCS(0), len(l.books), func(ctx context.Context, i int) error {
		v := l.books[i]
		if v.Err != nil || !selected(v.Key) || isOver() {
			return nil
		}
		own, err := v.sites(ctx)
		mu.Lock()
		defer mu.Unlock()
		maps.Copy(sites, own)
		over = over || enough(sites)
		return l.note(v, err)
	})
	return sites, err
}

// sites returns the sites of all URLs in the book.
func (v *volume) sites(ctx context.Context) (map[uint32]bool, error) {
	sites := make(map[uint32]bool)
	for o, err := range v.reader.Outcomes(ctx, layout.Range{}) {
		if err != nil {
			return nil, err
		}
		sites[o.Place.Site()] = true
	}
	for t, err := range v.reader.Targets(ctx, layout.Range{}) {
		if err != nil {
			return nil, err
		}
		sites[t.Place.Site()] = true
	}
	return sites, nil
}

// fold reads the range of an account in all books whose Err is nil, and adds the outcomes and links
// to the account. It uses two goroutines per processor: one can wait for the store while the other
// computes.
func (l *library) fold(ctx context.Context, a *Account, most int64) error {
	var parts []part
	for _, v := range l.books {
		if v.Err == nil {
			for _, p := range v.reader.Parts(a.within, partSize) {
				parts = append(parts, part{v, p})
			}
		}
	}
	return inParallel(ctx, 2*runtime.GOMAXPROCS(0), len(parts), func(ctx context.Context, i int) error {
		return l.note(parts[i].volume, parts[i].fold(ctx, a, most))
	})
}

// fold adds the outcomes and links of the part to an account.
func (p part) fold(ctx context.Context, a *Account, most int64) error {
	if p.From == 0 { // the account does not need the sources; reading them finds damage
		if err := p.reader.CheckSources(ctx); err != nil {
			return err
		}
	}
	full := func() bool { return a.size.Load() > most && !isSingle(a.within) }
	for o, err := range p.reader.Outcomes(ctx, p.Range) {
		if err != nil {
			return err
		}
		if a.Outcome(o); full() {
			return errTooLarge
		}
	}
	var last book.Target
	for t, err := range p.reader.Targets(ctx, p.Range) {
		if err != nil {
			return err
		}
		if t.Decision, t.Sources = "", 0; t == last { // without these two fields, most rows equal the row before
			continue
		}
		last = t
		if a.Target(t); full() {
			return errTooLarge
		}
	}
	return nil
}
