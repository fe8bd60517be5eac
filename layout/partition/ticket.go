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

// ticket is the right to list an object that was stored less than Fresh ago.
type ticket struct {
	put time.Time // time shortly before the object was stored
}

// Package is a stored package with its ticket, the right to list it in a generation.
type Package struct {
	ticket
	manifest.Package
}

// Book is a stored book with its ticket, the right to list it in a generation.
type Book struct {
	ticket
	manifest.Book
}

// Segment is a stored segment with its ticket, the right to list it in a generation.
type Segment struct {
	ticket
	manifest.Segment
}

// PutPackage stores a package under a name and returns it with a ticket. The parameter pages
// is the number of its pages. PutPackage increments name.Collision until the name's key
//   - is not a present or earlier key of a listed package, and
//   - is not condemned, and
//   - has no object with other bytes.
func (p *Partition) PutPackage(ctx context.Context, name layout.PackageName, content []byte, pages int) (Package, error) {
	put, err := p.begin(ctx)
	if err != nil {
		return Package{}, err
	}
	for ; ; name.Collision++ {
		key := layout.PackageKey(p.ID(), name)
		if p.newest.Package(key) != nil || p.newest.IsCondemned(key) {
			continue
		}
		err := blob.CreateOnce(ctx, p.bucket, key, content)
		if err == nil {
			return Package{put, manifest.Package{Key: key, Bytes: int64(len(content)), Pages: pages}}, nil
		}
		if !errors.Is(err, blob.ErrExists) {
			return Package{}, fmt.Errorf("cannot put package %s: %w", key, err)
		}
	}
}

// PutBook stores a book with these numbers of outcomes and links under the hash of its
// bytes. If that key is condemned, or has damaged bytes, it adds a number to the book's
// directory (see book.Distinct): the outcomes and links stay the same, but the hash, and
// so the key, changes.
func (p *Partition) PutBook(ctx context.Context, content []byte, outcomes, links int) (Book, error) {
	put, err := p.begin(ctx)
	if err != nil {
		return Book{}, err
	}
	for number := uint32(1); ; number++ {
		key := layout.BookKey(p.ID(), layout.ContentHash(content))
		if !p.newest.IsCondemned(key) {
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

// PutSegment stores a segment under the hash of its bytes. If that key is condemned, or has damaged
// bytes, it adds the number of the newest generation to the segment's bytes (see segment.Distinct):
// the documents stay the same, but the hash, and so the key, changes. This happens, for instance,
// if the same documents are indexed once more.
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
		if p.newest.IsCondemned(key) {
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

// begin returns a ticket for objects that are stored after the call. First it commits generation 1,
// if the partition has no generation.
func (p *Partition) begin(ctx context.Context) (ticket, error) {
	return ticket{put: p.now()}, p.Begin(ctx)
}
