// Package remains makes a new generation (version of the manifest) of a partition whose
// last generations are lost. It uses the objects that are left in the bucket, because these
// describe themselves: packages of pages, and books, which record outcomes and links. It
// writes nothing.
//
// The new generation begins as a copy of the newest readable generation, or as an empty one
// if none can be read. Objects that the old generation lists stay listed. If such an object
// was replaced later, its replacement is listed, too. If it was deleted later, the next run of
// verify finds that. Objects that the old generation condemns (marks for deletion) stay
// condemned: lost generations cannot have listed them, because no condemned object is listed
// again.
//
// # Books
//
// The outcomes of a batch may be in several books. If a run of pack is killed before its commit,
// its book stays in the bucket, and the next run packs the same batches into another book. A book
// that was merged into another one also stays for a while. So books are looked at one after
// another, and a book is left out if all its batches are in books that are listed already.
//
// Example: a run of pack stored B1 and was killed; the next run stored B2; later B2 was merged,
// with other books, into B3. The three are looked at in this order:
//
//	book    batches    listed
//	B3      1 to 9     yes
//	B2      1, 2, 3    no
//	B1      1, 2       no
//
// Books that the newest readable generation lists come first, then books whose packages all
// exist, then the others. Within each of these groups, books with more batches come first.
//
// # Packages
//
// When pages are erased from a package, the other pages are stored as a new package, which has
// the same name with a higher number. Of these, only the one with the highest number counts. A
// package is listed if a listed book names it, or if it has a page whose batch is in no listed
// book and not in the spool.
//
// # Batches
//
// A batch in a listed book is packed, and must not be packed again. The manifest can say so in
// two ways: it lists the batch as consumed, or it closes the batch and all earlier ones. It does
// not close a batch while the batch's own spool object exists, or while an earlier, unpacked batch
// waits in the spool. Such a batch is listed as consumed.
//
// # The rest
//
// A manifest numbers its packages. Its entry for a segment has the numbers of the packages that
// are indexed in the segment. If the entry is lost, it cannot be made anew, because the segment
// itself does not contain these numbers. So packages that are newly listed are indexed again.
// The list of gone pages is made from the books. The sweep searches the whole partition
// for forgotten pages again, and erases them.
package remains

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// beyond is added to the highest generation number that is known to have existed, to get the number
// of the new generation: later generations may have been lost without a trace, and no number may be
// used twice.
const beyond = 1000

// Generation returns a new generation (version of the manifest) that takes the place of a
// partition's lost ones. It lists what the parameter newest lists, and the packages and books that
// are still in the bucket. Generation also returns a sentence for people on what it has added. It
// stores nothing: the caller sets the field Learnt and passes the generation to manifest.Refound.
//
// The parameter newest is the newest readable generation, or the zero generation of the partition
// if there is none. The parameter elsewhere lists the partitions to which pages may have moved. The
// parameter evidence lists objects that prove which later generations existed. The new generation
// gets a higher number than all of these.
func Generation(ctx context.Context, bucket blob.Reader, newest manifest.Manifest, elsewhere []layout.Partition, evidence []partition.Evidence, now time.Time) (manifest.Manifest, string, error) {
	r := &remains{bucket: bucket, newest: newest, now: now.UTC().Truncate(time.Millisecond)}
	for _, read := range []func(context.Context) error{r.readCondemned, r.readSpool, r.readPackages, r.readBooks} {
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

// say returns a sentence that says how many packages and books the new manifest, m, lists beyond
// those of the newest readable one.
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

	condemned map[string]bool         // keys of the objects that the newest generation has marked for deletion
	spooled   map[layout.Version]bool // batches with a spool object
	packages  foundPackages           // packages with a readable description, except those marked for deletion
	// undamaged books, except those marked for deletion; listBooks keeps only those that the new
	// manifest lists
	books   []*foundBook
	batches map[layout.Version]bool // batches in listed books
}

// readCondemned sets r.condemned. It leaves out what a damaged list names: repair drops such a list
// afterwards.
func (r *remains) readCondemned(ctx context.Context) (err error) {
	r.condemned, err = partition.CondemnedKeys(ctx, r.bucket, &r.newest)
	if errors.Is(err, manifest.ErrDamaged) {
		return nil
	}
	return err
}

// readSpool sets r.spooled to the batches that have an object in the spool.
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

// consume records in the new manifest that every batch in a listed book is packed, so that no such
// batch is packed again. A manifest can record that in two ways:
//
//   - An entry in m.Consumed is for one batch.
//   - m.Close(batch) is for the batch and all batches of the same epoch with a lower token (number of
//     the batch in the epoch).
//
// consume closes the batch, unless the spool still has the batch's object, or has an unpacked batch of
// the same epoch with a lower token. In these two cases it adds the batch to m.Consumed.
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

// listPackages makes the manifest list the packages that toList returns. When pages are erased from a
// package, a smaller copy of it is stored under a new key. If the manifest still lists the package from
// before the erasure, listPackages puts the key of the copy into that entry, which keeps its ID. If the
// manifest lists neither, listPackages adds an entry with a new ID. Entries that were changed or added
// say that the package is not indexed, so that it is indexed again.
//
// A package is condemned if the copy of it is listed. Otherwise, if its book is lost, it would prove again and again
// that generations are lost: it has pages of a batch that no generation has consumed.
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
			listed[p.key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.packages.byKey)) {
		if p := r.packages.byKey[key]; p.last != p && listed[p.last.key] && !listed[key] {
			m.Condemn(r.now, key)
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
