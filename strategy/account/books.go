package account

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// partSize is the approximate size, in bytes, of the parts into which a book is divided for
// concurrent reading. Each worker reads one part after another.
const partSize = 4 << 20

// library holds the books that the manifests of all partitions list.
type library struct {
	books []*volume

	// mu protects the field Err of all books. It is also locked during each call of the function
	// progress (see Survey), so that these calls come one after another.
	mu sync.Mutex
}

// volume is one book. Its Err is nil until the book turns out to be absent or damaged.
type volume struct {
	Unreadable
	reader *book.Reader
}

// open opens the books that the manifests list, and returns them as a library. A book that is
// absent or damaged is in the library, too, with its Err set.
func open(ctx context.Context, bucket blob.Reader, manifests []manifest.Manifest) (*library, error) {
	var l library
	for _, m := range manifests {
		for _, listed := range m.Books {
			l.books = append(l.books, &volume{Unreadable: Unreadable{Partition: m.Partition, Key: listed.Key}})
		}
	}
	return &l, inParallel(ctx, requests, len(l.books), func(ctx context.Context, i int) error {
		v := l.books[i]
		reader, err := book.Open(ctx, bucket, v.Key)
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
	var lost []Unreadable
	for _, v := range l.books {
		if v.Err != nil {
			lost = append(lost, v.Unreadable)
		}
	}
	return lost
}

// account returns a new account of all books that are neither absent nor damaged. Damage may be found
// only after parts of a book have been added to the account. Then account begins again with an empty
// account, and leaves this book out.
func (l *library) account(ctx context.Context, s *settings.Settings, progress func(read, total int64)) (*Account, error) {
	for {
		a, err := New(s)
		if err != nil {
			return nil, err
		}
		before := len(l.lost())
		if err := l.fold(ctx, a, progress); err != nil {
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

// fold reads all books whose Err is nil, and adds their outcomes and links to an account. It
// uses two goroutines per processor: one can wait for the store while the other computes.
func (l *library) fold(ctx context.Context, a *Account, progress func(read, total int64)) error {
	var parts []part
	var read, total int64
	for _, v := range l.books {
		if v.Err != nil {
			continue
		}
		for _, p := range v.reader.Parts(partSize) {
			parts = append(parts, part{v, p})
			total += p.Bytes
		}
	}
	return inParallel(ctx, 2*runtime.GOMAXPROCS(0), len(parts), func(ctx context.Context, i int) error {
		if err := l.note(parts[i].volume, parts[i].fold(ctx, a)); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if read += parts[i].Bytes; progress != nil {
			progress(read, total)
		}
		return nil
	})
}

// fold adds the outcomes and links of the part to an account.
func (p part) fold(ctx context.Context, a *Account) error {
	if p.From == 0 { // the account does not need the sources; reading them finds damage
		if _, err := p.reader.Sources(ctx); err != nil {
			return err
		}
	}
	for o, err := range p.reader.Outcomes(ctx, p.Range) {
		if err != nil {
			return err
		}
		a.Outcome(o)
	}
	var last book.Target
	for t, err := range p.reader.Targets(ctx, p.Range) {
		if err != nil {
			return err
		}
		if t.Decision, t.Sources = "", 0; t != last { // without these two fields, most rows equal the row before
			a.Target(t)
			last = t
		}
	}
	return nil
}
