package partition

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// ticket is the right to list a stored object in a new generation. It expires when the time Fresh
// has passed since the object was stored.
type ticket struct {
	put        time.Time // time shortly before the object was stored
	generation uint64    // number of a generation that had not condemned the object's key
}

// Package is a stored package with its ticket: the right to list the package in a generation.
type Package struct {
	ticket
	manifest.Package
}

// Book is a stored book with its ticket: the right to list the book in a generation.
type Book struct {
	ticket
	manifest.Book
}

// Segment is a stored segment with its ticket: the right to list the segment in a generation.
type Segment struct {
	ticket
	manifest.Segment
}

// PutPackage stores a package under a key with the given name, and returns the package with a
// ticket (the right to list it). The parameter pages is the number of the package's pages. If the
// key cannot be used, PutPackage increments name.Collision and tries again. A key cannot be used if
//   - it is the present or an earlier key of a listed package, or
//   - it is condemned (marked for deletion), or
//   - an object with other bytes is stored under it.
func (p *Partition) PutPackage(ctx context.Context, name layout.PackageName, content []byte, pages int) (Package, error) {
	put, err := p.begin(ctx)
	if err != nil {
		return Package{}, err
	}
	for ; ; name.Collision++ {
		key := layout.PackageKey(p.ID(), name)
		condemned, err := p.isCondemned(ctx, key)
		if err != nil {
			return Package{}, fmt.Errorf("cannot put package %s: %w", key, err)
		}
		if condemned || p.newest.Package(key) != nil {
			continue
		}
		err = blob.CreateOnce(ctx, p.bucket, key, content)
		if err == nil {
			return Package{put, manifest.Package{Key: key, Bytes: int64(len(content)), Pages: pages}}, nil
		}
		if !errors.Is(err, blob.ErrExists) {
			return Package{}, fmt.Errorf("cannot put package %s: %w", key, err)
		}
	}
}

// PutBook stores a book under a key with the hash of its bytes. The last two parameters are the
// numbers of outcomes and links in the book. The key cannot be used if it is condemned (marked for
// deletion), or if a damaged object is stored under it. Then PutBook adds a number to the book's
// directory (see book.Distinct). This changes the hash, and so the key, but not the content.
func (p *Partition) PutBook(ctx context.Context, content []byte, outcomes, links int) (Book, error) {
	put, err := p.begin(ctx)
	if err != nil {
		return Book{}, err
	}
	for number := uint32(1); ; number++ {
		key := layout.BookKey(p.ID(), layout.ContentHash(content))
		condemned, err := p.isCondemned(ctx, key)
		if err != nil {
			return Book{}, fmt.Errorf("cannot put book %s: %w", key, err)
		}
		if !condemned {
			err := blob.CreateOnce(ctx, p.bucket, key, content)
			if err == nil {
				return Book{put, manifest.Book{Key: key, Bytes: int64(len(content)), Outcomes: outcomes, Links: links}}, nil
			}
			if !errors.Is(err, blob.ErrExists) {
				return Book{}, fmt.Errorf("cannot put book %s: %w", key, err)
			}
		}
		content = book.Distinct(content, number)
	}
}

// PutSegment stores a segment under a key with the hash of its bytes. The key cannot be used if a
// damaged object is stored under it, or if it is condemned (marked for deletion): then an earlier
// segment with the same bytes was dropped. In both cases PutSegment writes the number of the newest
// generation into the segment's tail (see segment.Distinct). This changes the hash, and so the key,
// but not the documents.
func (p *Partition) PutSegment(ctx context.Context, content []byte) (Segment, error) {
	put, err := p.begin(ctx)
	if err != nil {
		return Segment{}, err
	}
	opened, err := segment.OpenBytes(content)
	if err != nil {
		return Segment{}, fmt.Errorf("cannot read back what was built: %w", err)
	}
	for range 2 {
		key := layout.SegmentKey(p.ID(), layout.ContentHash(content))
		condemned, errRead := p.isCondemned(ctx, key)
		if errRead != nil {
			return Segment{}, fmt.Errorf("cannot put segment %s: %w", key, errRead)
		}
		if condemned {
			err = fmt.Errorf("cannot put segment %s: it is condemned", key)
		} else if err = blob.CreateOnce(ctx, p.bucket, key, content); err == nil {
			tail, err := segment.TailOf(content)
			return Segment{put, manifest.Segment{Key: key, Bytes: int64(len(content)), Tail: tail, Documents: opened.Documents()}}, err
		} else if err = fmt.Errorf("cannot put segment %s: %w", key, err); !errors.Is(err, blob.ErrExists) {
			break
		}
		content = segment.Distinct(content, p.newest.Generation)
	}
	return Segment{}, err
}

// begin returns a ticket (the right to list an object) for objects that are stored after this call.
// First it commits generation 1, if the partition has no generation.
func (p *Partition) begin(ctx context.Context) (ticket, error) {
	put := p.now()
	err := p.Begin(ctx)
	return ticket{put, p.newest.Generation}, err
}
