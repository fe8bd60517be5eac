// Package remains makes a new generation of a partition whose last generations are
// lost, from the objects that are left: packages and books describe themselves. It
// writes nothing.
//
// The new generation starts from the newest readable one, or empty. Objects that the
// readable one lists stay listed: if they were replaced or even deleted since, their
// replacements are listed, too, and verify and repair find the rest. Objects that it
// condemns stay condemned: no lost generation can have listed them again.
//
// # Books
//
// A book is left out if listed books have all its batches: it was merged into one of
// these; or a pack was killed before it committed the book, and its batches were packed
// again. All other books are listed. Books whose packages all exist are listed first,
// and among these books with more batches first.
//
//	books                        batches    listed
//	B1, put by a killed pack     1, 2       no
//	B2, of the pack after it     1, 2, 3    no
//	B3, into which B2 merged     1 to 9     yes
//
// # Packages
//
// A package from which pages were erased is stored again under its name with a
// higher number, and the highest one counts. A package is listed if a listed book
// names it, or if it has a page whose batch is in no listed book and not in the spool.
//
// # Batches
//
// A batch in a listed book is packed: it is consumed while its spool object
// exists, and closed after that. Closing a batch closes all earlier ones, so no
// batch after one that still waits in the spool is closed.
//
// # The rest
//
// Segments do not name the numbers of their packages, so packages that are newly
// listed are indexed again. The gone pages follow from the books. Forgotten pages
// are erased again.
package remains

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// beyond is added to the highest generation number in the evidence, to get the number of the new
// generation: lost generations may have left no evidence, and no number may be used twice.
const beyond = 1000

// Generation returns a generation that takes the place of a partition's lost ones. It lists what
// the parameter newest lists, and the packages and books that are still in the bucket. Generation
// also returns a sentence for people on what it has added. It stores nothing: the caller sets the
// field Learnt and passes the generation to manifest.Refound.
//
// The parameter newest is the newest readable generation, or the zero generation of the partition
// if there is none. The parameter elsewhere lists the partitions to which pages may have moved. The
// parameter evidence shows that generations are lost; the number of the new generation is higher
// than any that it names.
func Generation(ctx context.Context, bucket blob.Reader, newest manifest.Manifest, elsewhere []layout.Partition, evidence []partition.Evidence, now time.Time) (manifest.Manifest, string, error) {
	r := &remains{bucket: bucket, newest: newest, now: now.UTC().Truncate(time.Millisecond)}
	for _, read := range []func(context.Context) error{r.readSpool, r.readPackages, r.readBooks} {
		if err := read(ctx); err != nil {
			return manifest.Manifest{}, "", fmt.Errorf("cannot make a generation of partition %s anew: %w", newest.Partition, err)
		}
	}
	m := newest.Clone()
	last := newest.Generation
	for _, e := range evidence {
		last = max(last, e.Generation)
	}
	m.Generation = last // while it is edited it has the number of its base
	r.listBooks(&m)
	if err := r.listPackages(ctx, &m); err != nil {
		return manifest.Manifest{}, "", fmt.Errorf("cannot make a generation of partition %s anew: %w", newest.Partition, err)
	}
	r.consume(&m)
	m.Forgotten = 0
	gone, err := segments.Gone(ctx, bucket, &m, elsewhere)
	switch {
	case err == nil:
		m.Gone = gone
	case !errors.Is(err, book.ErrDamaged) && !errors.Is(err, blob.ErrAbsent): // a listed book, which repair takes off
		return manifest.Manifest{}, "", err
	}
	next := last + beyond
	m.Generation, m.Oldest, m.Parent = next, next, newest.Hash()
	if m.Time = r.now; m.Time.Before(newest.Time) {
		m.Time = newest.Time
	}
	return m, r.say(&m), nil
}

// say returns a sentence that says how many packages and books m, the new generation, lists beyond
// those of the newest readable generation.
func (r *remains) say(m *manifest.Manifest) string {
	lost := "all its generations"
	if r.newest.Generation > 0 {
		lost = fmt.Sprintf("its generations after %d", r.newest.Generation)
	}
	return fmt.Sprintf("partition %s lost %s; generation %d is made anew, and lists %d packages and %d books that are there",
		m.Partition, lost, m.Generation, len(m.Packages)-len(r.newest.Packages), len(m.Books)-len(r.newest.Books))
}

// remains are the objects of a partition that are left in the bucket.
type remains struct {
	bucket blob.Reader
	newest manifest.Manifest
	now    time.Time

	spooled  map[layout.Version]bool // batches with a spool object
	packages foundPackages           // packages with a readable description, except condemned ones
	books    []*foundBook            // undamaged books, except condemned ones; after listBooks only the listed ones
	batches  map[layout.Version]bool // batches in listed books
}

// readSpool lists the batches that have a spool object.
func (r *remains) readSpool(ctx context.Context) error {
	r.spooled = make(map[layout.Version]bool)
	for object, err := range r.bucket.List(ctx, layout.SpoolPrefix(r.newest.Partition), "") {
		if err != nil {
			return err
		}
		if _, batch, err := layout.ParseSpoolKey(object.Key); err == nil {
			r.spooled[batch] = true
		}
	}
	return nil
}

// consume marks every batch in a listed book as packed, so that it is not packed again:
//
//	the batch's spool object exists                                added to m.Consumed
//	an unpacked batch of its epoch, with a lower token, waits      the same
//	otherwise                                                      closed (see manifest.Manifest.Close)
//
// Closing a batch also closes all batches of its epoch with lower tokens. That is why it must not
// be done while one of them waits in the spool.
func (r *remains) consume(m *manifest.Manifest) {
	waiting := make(map[uint64]uint64) // the lowest token of each epoch
	for batch := range r.spooled {
		if r.batches[batch] || m.HasConsumed(batch) || m.IsClosed(batch) {
			continue
		}
		if lowest, found := waiting[batch.Epoch]; !found || batch.Token < lowest {
			waiting[batch.Epoch] = batch.Token
		}
	}
	consumed := make(map[layout.Version]bool, len(m.Consumed))
	for _, c := range m.Consumed {
		consumed[c.Batch] = true
	}
	var over []layout.Version
	for batch := range r.batches {
		lowest, waits := waiting[batch.Epoch]
		switch {
		case batch.Token == 0 || consumed[batch] || m.IsClosed(batch): // 0 is the token of repair's Lost outcomes
		case r.spooled[batch] || waits && batch.Token > lowest:
			m.Consumed = append(m.Consumed, manifest.Consumed{Batch: batch, At: r.now})
		default:
			over = append(over, batch)
		}
	}
	slices.SortFunc(over, layout.Version.Compare)
	for _, batch := range over {
		m.Close(batch)
	}
	slices.SortFunc(m.Consumed, func(a, b manifest.Consumed) int { return a.Batch.Compare(b.Batch) })
}

// listPackages adds to the manifest the packages that toList returns. A package that was made of a
// listed one by erasing pages takes the place and ID of the listed one; any other gets a new ID.
// All packages that it adds count as not indexed.
func (r *remains) listPackages(ctx context.Context, m *manifest.Manifest) error {
	wanted, err := r.toList(ctx)
	if err != nil {
		return err
	}
	listed := make(map[string]bool, len(m.Packages))
	for _, own := range m.Packages {
		listed[own.Key] = true
	}
	standIns := make(map[string]*foundPackage)
	for p, former := range wanted {
		for key := range former {
			standIns[key] = p
		}
	}
	for i := range m.Packages {
		own := &m.Packages[i]
		p := standIns[own.Key]
		if p == nil || listed[p.key] {
			continue
		}
		if r.packages.byKey[own.Key] != nil {
			m.Condemn(r.now, own.Key)
		}
		former := append(slices.Clone(own.Formerly), own.Key)
		for _, key := range wanted.formerly(p) {
			if !slices.Contains(former, key) {
				former = append(former, key)
			}
		}
		own.Key, own.Bytes, own.Pages, own.Indexed, own.Formerly = p.key, p.bytes, len(p.Pages), false, former
		listed[p.key] = true
	}
	for _, p := range wanted.sorted() {
		if !listed[p.key] {
			m.Add(manifest.Package{Key: p.key, Bytes: p.bytes, Pages: len(p.Pages), Formerly: wanted.formerly(p)})
		}
	}
	return nil
}

// sorted returns the packages in the order of their keys.
func (l listing) sorted() []*foundPackage {
	all := make([]*foundPackage, 0, len(l))
	for p := range l {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *foundPackage) int { return cmp.Compare(a.key, b.key) })
	return all
}
