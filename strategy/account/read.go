package account

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
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

// Bucket holds the state of every URL of a bucket at one moment (see Account), the objects from which
// the states were computed, and the objects that could not be read.
type Bucket struct {
	*Account
	Manifests []manifest.Manifest // newest manifest of each storage partition
	Spooled   []Spooled           // spool objects that wait to be packed
	// one partition.Fault for each partition that lost its newest manifest or all its manifests
	Without []error
	Lost    []Unreadable // listed books that are absent or damaged
	Damaged []Unreadable // damaged spool objects that wait to be packed
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

// Read reads the books of every partition, and the spool objects that are not packed yet, and
// returns the state of every URL. A batch that is committed or spooled meanwhile may be missing.
// If manifests or books are lost, Read fails with the errors that Faults would return, because its
// callers would take the URLs in the lost objects for unknown. A damaged spool object is left out,
// and its URLs are requested again.
func Read(ctx context.Context, bucket blob.Reader, s *settings.Settings) (*Bucket, error) {
	b, err := Survey(ctx, bucket, s, nil)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(b.Faults()...); err != nil {
		return nil, err
	}
	return b, nil
}

// Faults returns the reasons why the account is not complete: a partition.Fault for each
// partition that lost manifests, and one for all absent and damaged books.
func (b *Bucket) Faults() []error {
	var books []error
	for _, l := range b.Lost {
		books = append(books, l.Err)
	}
	if err := partition.BooksFault(books...); err != nil {
		return append(slices.Clip(b.Without), err)
	}
	return b.Without
}

// Survey returns the state of every URL, as Read does, but does not fail if manifests or books
// are lost: it leaves these out, and the method Faults names them. Survey is for commands that show
// people the known states. Unless the function progress is nil, Survey calls it now and then, from
// one goroutine at a time. It passes the number of bytes read from books so far, and the total size
// of all books. Survey starts over if a book turns out to be damaged, or if a spool object is packed
// and deleted before it is read. Then the number of bytes read begins at 0 again.
func Survey(ctx context.Context, bucket blob.Reader, s *settings.Settings, progress func(read, total int64)) (*Bucket, error) {
	for try := 1; ; try++ {
		b, err := survey(ctx, bucket, s, progress)
		if try == maxSurveys || !errors.Is(err, errPacked) {
			return b, err
		}
	}
}

// survey makes one attempt of Survey. It fails with errPacked if a spool object was
// packed and deleted before it could be read.
func survey(ctx context.Context, bucket blob.Reader, s *settings.Settings, progress func(read, total int64)) (*Bucket, error) {
	partitions := s.Partitions()
	b := &Bucket{Manifests: make([]manifest.Manifest, len(partitions))}
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
	books, err := open(ctx, bucket, b.Manifests)
	if err != nil {
		return nil, err
	}
	if b.Account, err = books.account(ctx, s, progress); err != nil {
		return nil, err
	}
	b.Lost = books.lost()
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
