// Package remains makes a generation of a partition anew, whose later
// generations are lost, from the objects that are left of it: packages and
// books describe themselves. It reads, and changes nothing.
//
// The new generation begins as the newest that can be read, or empty. What that
// lists stays listed: if it was replaced since, and even deleted, what replaced
// it is listed too, and verify and repair see to the rest. What it condemns
// stays condemned and unlisted: no later generation can have listed it again.
//
// # Books
//
// A book that is not listed is left out if other books tell of all its batches:
// it was merged into one of these, or a pack was killed before it committed, and
// what it had packed was packed again. Else it is listed. Books whose packages
// are all there go before others, and larger ones before smaller ones.
//
//	books that are there       what they tell of   listed
//	B1, put by a killed pack   batches 1, 2        no
//	B2, of the pack that came  batches 1, 2, 3     no
//	B3, into which B2 merged   batches 1 to 9      yes
//
// # Packages
//
// What is left of a package from which pages were erased has its name with a
// higher number, and stands for it. A package is listed if a book that is
// listed names it, or if it has a page of a batch of which no book tells and
// which does not wait in the spool: of that page, nothing else is left.
//
// # Batches
//
// A batch of which a listed book tells is packed: it is consumed while its
// spool object is there, and closed when that is gone. Closing closes all
// batches before, so none is closed behind one that waits in the spool.
//
// # The rest
//
// Segments say nothing of their packages' numbers, so the packages that are new
// to the list are indexed anew. Which pages are gone follows from the books.
// What is forgotten is erased once more.
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

// beyond is how far the number of the new generation is above those that
// evidence tells of: of the last ones, nothing may be left that does.
const beyond = 1000

// Generation returns a generation that lists what is left of a partition, and
// whose number is above all that evidence tells of, for manifest.Refound. Its
// Learnt is for the caller to change. newest is the newest that can be read, the zero
// generation where none can, and elsewhere the partitions to which its pages may
// have moved. It also says what it lists.
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

// say tells what a generation lists that newest did not.
func (r *remains) say(m *manifest.Manifest) string {
	lost := "all its generations"
	if r.newest.Generation > 0 {
		lost = fmt.Sprintf("its generations after %d", r.newest.Generation)
	}
	return fmt.Sprintf("partition %s lost %s; generation %d is made anew, and lists %d packages and %d books that are there",
		m.Partition, lost, m.Generation, len(m.Packages)-len(r.newest.Packages), len(m.Books)-len(r.newest.Books))
}

// remains is what is left of a partition.
type remains struct {
	bucket blob.Reader
	newest manifest.Manifest
	now    time.Time

	spooled  map[layout.Version]bool
	packages packs                   // whose descriptions can be read, and that are not condemned
	books    []*told                 // that are sound and not condemned; once listBooks has run, those that are listed
	batches  map[layout.Version]bool // of which listed books tell
}

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

// consume says of every batch of which a listed book tells that it is packed.
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
		case batch.Token == 0 || consumed[batch] || m.IsClosed(batch): // 0 is no batch, but what repair took back
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

// listPackages lists packages: in the place of a form of theirs that is listed,
// or under a new number. All of these are to be indexed.
func (r *remains) listPackages(ctx context.Context, m *manifest.Manifest) error {
	wanted, err := r.toList(ctx)
	if err != nil {
		return err
	}
	listed := make(map[string]bool, len(m.Packages))
	for _, own := range m.Packages {
		listed[own.Key] = true
	}
	standIns := make(map[string]*pack)
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

func (l listing) sorted() []*pack {
	all := make([]*pack, 0, len(l))
	for p := range l {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *pack) int { return cmp.Compare(a.key, b.key) })
	return all
}
