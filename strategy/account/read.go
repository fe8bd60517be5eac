package account

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// requests is the greatest number of concurrent requests to the object store.
const requests = 16

// maxSurveys is the maximum number of attempts that one call of Survey makes. An attempt fails if a
// spool object is packed and deleted before it is read. That is rare: usually a packed spool object is
// kept for longer than a survey takes. It is deleted at once only while pages that a takedown forgets
// are being erased.
const maxSurveys = 4

// Bucket gives the state of every URL of a bucket at one moment (see All and Ranges). It does not hold the states,
// but the opened books from which they are computed. So its memory does not grow with the number of URLs.
type Bucket struct {
	Manifests []manifest.Manifest // newest manifest of each storage partition
	Spooled   []Spooled           // spool objects that wait to be packed
	// one partition.Fault for each partition that lost its newest manifest or all its manifests
	Without []error
	Damaged []Unreadable // damaged spool objects that wait to be packed

	library
	settings *settings.Settings
	strict   bool  // lost and damaged books are errors
	most     int64 // maximum size of the account of a range
	paces    paces // paces of the hosts whose URLs the last call of All has yielded
}

// Spooled is a spool object, the result of one fetched batch, that waits to be packed.
type Spooled struct {
	Partition layout.Partition
	Batch     layout.Version
	Bytes     int64 // size of the batch's pages before compression, in bytes
	Pages     int
}

// Unreadable is an object that cannot be read, although the store answers.
type Unreadable struct {
	Partition layout.Partition
	Key       string
	Err       error // wraps blob.ErrAbsent, book.ErrDamaged or spool.ErrDamaged, or says that Key is malformed; its text names Key
}

// Read opens the books of every partition, and reads the spool objects that are not packed yet. The
// result gives the state of every URL. A batch that is committed or spooled after the call may be
// missing. If manifests or books are lost, Read fails with the errors that Faults would return, because
// its callers would take the URLs in the lost objects for unknown. If a book turns out to be damaged
// later, Ranges and All fail in the same way. A damaged spool object is left out, and its URLs are
// requested again.
func Read(ctx context.Context, bucket blob.Reader, s *settings.Settings) (*Bucket, error) {
	b, err := Survey(ctx, bucket, s)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(b.Faults()...); err != nil {
		return nil, err
	}
	b.strict = true
	return b, nil
}

// Standings yields the outcomes that determine the state of every URL (see book.Standings). It reads no links. Call it
// only if the Bucket comes from Read. A damaged book ends the sequence with an error.
func (b *Bucket) Standings(ctx context.Context) iter.Seq2[book.Standing, error] {
	readers := make([]*book.Reader, len(b.books))
	for i, v := range b.books {
		readers[i] = v.reader
	}
	return book.Standings(ctx, readers)
}

// Faults returns the reasons why the states are not complete: a partition.Fault for each partition that
// lost manifests, and one for all absent and damaged books. A damaged book may be found only when All
// or Ranges reads it.
func (b *Bucket) Faults() []error {
	var books []error
	for _, l := range b.lost() {
		books = append(books, l.Err)
	}
	if err := partition.BooksFault(books...); err != nil {
		return append(slices.Clip(b.Without), err)
	}
	return b.Without
}

// Survey returns a Bucket as Read does, but does not fail if manifests or books are lost: it leaves these out, and
// the method Faults names them. If a book turns out to be damaged while it is read, it is left out of the present
// range and of all later ones (see Ranges). Survey is for commands that show people the known states. It starts
// over if a spool object is packed and deleted before Survey has read it.
func Survey(ctx context.Context, bucket blob.Reader, s *settings.Settings) (*Bucket, error) {
	for try := 1; ; try++ {
		b, err := survey(ctx, bucket, s)
		if try == maxSurveys || !errors.Is(err, errPacked) {
			return b, err
		}
	}
}

// survey makes one attempt of Survey. It fails with errPacked if a spool object was
// packed and deleted before it could be read.
func survey(ctx context.Context, bucket blob.Reader, s *settings.Settings) (*Bucket, error) {
	partitions := s.Partitions()
	b := &Bucket{Manifests: make([]manifest.Manifest, len(partitions)), settings: s, most: maxURLs}
	keys, without := make([][]string, len(partitions)), make([]error, len(partitions))
	err := inParallel(ctx, requests, len(partitions), func(ctx context.Context, i int) (err error) {
		// Spool before manifest: a batch that is consumed in between is
		// found in the books.
		if keys[i], err = spooled(ctx, bucket, partitions[i]); err != nil {
			return err
		}
		b.Manifests[i], err = partition.Read(ctx, bucket, partitions[i])
		if partition.IsFault(err) {
			b.Manifests[i], without[i], err = manifest.Manifest{Partition: partitions[i]}, err, nil
		} else if err == nil {
			without[i] = partition.Later(&b.Manifests[i])
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	b.Without = slices.DeleteFunc(without, func(err error) bool { return err == nil })
	if err := b.open(ctx, bucket, b.Manifests); err != nil {
		return nil, err
	}
	if err := b.addSpool(ctx, bucket, keys); err != nil {
		return nil, err
	}
	return b, nil
}

// spooled returns the keys of the spool objects of a partition.
func spooled(ctx context.Context, bucket blob.Reader, p layout.Partition) ([]string, error) {
	var keys []string
	for object, err := range bucket.List(ctx, layout.SpoolPrefix(p), "") {
		if err != nil {
			return nil, fmt.Errorf("cannot list spool of partition %s: %w", p, err)
		}
		if !layout.IsForeign(object.Key) {
			keys = append(keys, object.Key)
		}
	}
	return keys, nil
}

// inParallel calls the given function for each number from 0 to n - 1, with at most atOnce calls at
// a time. After an error it begins no further calls, and it returns the first error.
func inParallel(ctx context.Context, atOnce, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, i)
		})
	}
	return group.Wait()
}
