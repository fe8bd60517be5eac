package verify

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// generation is one generation (version) of a partition's manifest, as read from the bucket. It was
// read from its own object, or from the hint, which is a copy of a recent generation.
type generation struct {
	manifest.Manifest
	hash string // content hash of the bytes; of a hint, that of the copied generation; "" if the object is missing
	bad  error  // why the generation cannot be read; nil if it can
}

// readHint returns the hint of a partition. If it is missing or damaged, readHint returns it with the
// reason in the field bad. readHint fails only if the object store fails.
func readHint(ctx context.Context, bucket blob.Reader, p layout.Partition) (generation, error) {
	key := layout.HintKey(p)
	content, err := bucket.Get(ctx, key, blob.Range{})
	if errors.Is(err, blob.ErrAbsent) {
		return generation{bad: err}, nil
	}
	if err != nil {
		return generation{}, fmt.Errorf("cannot read manifest %s: %w", key, err)
	}
	var g generation
	g.Manifest, g.bad = manifest.Decode(p, content)
	g.hash = g.Manifest.Hash()
	return g, nil
}

// readEntry returns the number, parent and time of a generation (version of partition p's manifest), as
// it is stored. If it is missing or damaged, readEntry returns the reason in the field bad. It fails
// only if the object store fails.
func readEntry(ctx context.Context, bucket blob.Reader, p layout.Partition, number uint64) (generation, error) {
	key := layout.ManifestKey(p, number)
	content, err := bucket.Get(ctx, key, blob.Range{})
	if errors.Is(err, blob.ErrAbsent) {
		return generation{bad: err}, nil
	}
	if err != nil {
		return generation{}, fmt.Errorf("cannot read manifest %s: %w", key, err)
	}
	e, err := manifest.DecodeEntry(p, content)
	if err == nil && e.Generation != number {
		err = fmt.Errorf("it is of generation %d", e.Generation)
	}
	return generation{manifest.Manifest{Parent: e.Parent, Time: e.Time}, layout.ContentHash(content), err}, nil
}

// history holds all generations (numbered versions of the manifest) of a partition. A generation whose object is
// missing has an element, too, with the reason in its field bad. Of each generation, the elements hold only the
// hash, the parent's hash and the time.
type history struct {
	hint        generation // hint as read; it should be a copy of a generation
	first       uint64     // number of the generation in generations[0]; 1 if generations is empty
	generations []generation
	// last is the newest generation, read from the stored generations. It is nil if the newest cannot be read:
	// because it is damaged, or because it is a delta (a list of changes) and one of the generations before it,
	// from which it follows, is damaged.
	last *generation
	// checkpoint is the number of the last whole generation up to the newest one: the newest follows from it by
	// deltas. If the newest is damaged itself, it is the number of the newest.
	checkpoint uint64
}

// newest returns the number of the newest generation (version of the manifest).
func (h *history) newest() uint64 { return h.first + uint64(len(h.generations)) - 1 }

// at returns a generation (version of the manifest) by its number; nil if the history holds none
// with that number.
func (h *history) at(number uint64) *generation {
	if number < h.first || number > h.newest() {
		return nil
	}
	return &h.generations[number-h.first]
}

// history reads the hint and all generations (versions of the manifest) of a partition. The hint is
// a copy of a recent generation. history reads it first, and lists the generations after that. So
// if the hint is newer than all generations in the list, a generation is lost. (In the opposite
// order, a commit between the two steps would also make the hint newer.)
func (v *run) history(ctx context.Context, p layout.Partition) (history, error) {
	var h history
	var err error
	if h.hint, err = readHint(ctx, v.Bucket, p); err != nil {
		return history{}, err
	}
	there := make(map[uint64]bool)
	var newest uint64
	h.first = 1
	for object, err := range v.Bucket.List(ctx, layout.ManifestPrefix(p), "") {
		if err != nil {
			return history{}, fmt.Errorf("cannot list manifests of partition %s: %w", p, err)
		}
		_, number, err := layout.ParseManifestKey(object.Key)
		if err != nil || number == 0 { // the method foreign reports it
			continue
		}
		if newest == 0 {
			h.first = number
		}
		newest, there[number] = number, true
	}
	h.generations = make([]generation, newest+1-h.first)
	progress := v.stage(Manifests, int64(len(h.generations)))
	within := ctx
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * runtime.GOMAXPROCS(0))
	for i := range h.generations {
		number := h.first + uint64(i)
		if !there[number] {
			h.generations[i] = generation{bad: blob.ErrAbsent}
			progress.add(1)
			continue
		}
		group.Go(func() error {
			g, err := readEntry(ctx, v.Bucket, p, number)
			if err != nil {
				return err
			}
			h.generations[i] = g
			progress.add(1)
			return nil
		})
	}
	if err := group.Wait(); err != nil || newest == 0 {
		return h, err
	}
	return h, v.readLast(within, p, &h)
}

// readLast sets the fields last and checkpoint of a history that has generations.
func (v *run) readLast(ctx context.Context, p layout.Partition, h *history) error {
	newest := h.newest()
	h.checkpoint = newest
	e, err := manifest.GetEntry(ctx, v.Bucket, p, newest)
	var m manifest.Manifest
	if err == nil {
		h.checkpoint = e.Checkpoint
		m, err = manifest.At(ctx, v.Bucket, p, newest)
	}
	if errors.Is(err, manifest.ErrDamaged) || errors.Is(err, blob.ErrAbsent) || h.at(newest).bad != nil {
		return nil
	}
	h.last = &generation{Manifest: m, hash: m.Hash()}
	return err
}

// chain checks the generations (versions of the manifest) of a partition. Each names the hash of
// the generation before it, its parent. chain goes back from the generation in force (the parameter
// inForce; nil if it cannot be read) to the oldest one that must be kept, and compares the hashes.
// It reports damaged and missing generations. It cannot check a generation whose successor is
// damaged.
func (v *run) chain(ctx context.Context, p layout.Partition, h history, inForce *generation) error {
	parent, known := "", false
	oldest := h.first
	if inForce != nil {
		parent, known = inForce.Parent, inForce.Generation > 0
		oldest = max(inForce.Oldest, 1)
	}
	var lost []uint64
	for number := h.newest(); number >= oldest && number > 0; number-- {
		g := h.at(number)
		switch key := layout.ManifestKey(p, number); {
		case g == nil || errors.Is(g.bad, blob.ErrAbsent):
			lost = append(lost, number)
			known = false
		case g.bad != nil:
			v.problem(Damaged, p, key, "%s: %v", h.unread(inForce, number), g.bad)
			known = false
		case inForce != nil && number >= inForce.Generation:
		case known && g.hash != parent:
			v.problem(Damaged, p, key, "is not what it was when generation %d followed it", number+1)
			known = false
		default:
			parent, known = g.Parent, true
		}
	}
	if known && parent != "" && oldest == 1 && len(h.generations) > 0 {
		v.problem(Damaged, p, layout.ManifestKey(p, 1), "says that it is not the first generation")
	}
	v.count(func(r *Report) { r.Generations += int(h.newest() + 1 - oldest) })
	return v.missing(ctx, p, h, inForce, lost)
}

// missing reports that the generations (versions of the manifest) with the given numbers are
// missing, except those that the sweep has deleted since this verification began.
func (v *run) missing(ctx context.Context, p layout.Partition, h history, inForce *generation, lost []uint64) error {
	if len(lost) == 0 {
		return nil
	}
	current, err := manifest.Read(ctx, v.Bucket, p)
	if errors.Is(err, blob.ErrRetryable) || ctx.Err() != nil {
		return err
	}
	for _, number := range lost {
		if number >= current.Oldest { // 0 when it cannot be read
			v.problem(Missing, p, layout.ManifestKey(p, number), "%s: %v", h.unread(inForce, number), blob.ErrAbsent)
		}
	}
	return nil
}

// unread returns a phrase for the report about an unreadable generation (version of the manifest), which has the
// given number. In the report, the phrase follows the key of the generation's object:
//
//	the newest generation               it cannot be read
//	one that the newest follows from    the generations after it need it
//	any other                           no present data depends on it; the time from which on the sweep
//	                                    would have deleted it anyway
func (h *history) unread(inForce *generation, number uint64) string {
	if inForce == nil || number >= inForce.Generation {
		return "is no generation that can be read"
	}
	if h.last == nil && number >= h.checkpoint {
		return "is needed by the generations after it, which only the hint can replace; run bucketsearch verify --repair, which commits the present state as a whole"
	}
	followed := inForce.Time
	for n := number + 1; n < inForce.Generation; n++ {
		if g := h.at(n); g != nil && g.bad == nil {
			followed = g.Time
			break
		}
	}
	limits := collect.DefaultLimits()
	return fmt.Sprintf("is lost to history, on which nothing of today depends, and would be deleted from %s UTC on",
		followed.Add(limits.Past+limits.Grace).UTC().Format("2006-01-02 15:04"))
}

// inForce returns the newest generation (version of the manifest) of a partition. There are two
// sources: the stored generations, and the hint, which should be a copy of one of them. inForce takes
// the hint if the newest generation is missing or unreadable, or has more faults than the hint (see the
// method faults). It returns nil if neither can be read: then the contents of the partition are unknown,
// or known only by the hint and the deltas after it. It reports a hint that is not a copy of a
// generation. The parameter exists has the sizes of the partition's objects, by key.
func (v *run) inForce(ctx context.Context, p layout.Partition, h history, exists map[string]int64) (*generation, error) {
	newest, last := h.newest(), h.last
	hint, hintKey := &h.hint, layout.HintKey(p)
	number := hint.Generation
	same := false // the hint has the contents of the generation that it copies
	if g := h.at(number); hint.bad == nil && g != nil && g.hash == hint.hash {
		m, err := manifest.At(ctx, v.Bucket, p, number)
		if errors.Is(err, blob.ErrRetryable) || ctx.Err() != nil {
			return nil, err
		}
		same = err != nil || manifest.Equal(&m, &hint.Manifest)
	}
	switch {
	case errors.Is(hint.bad, blob.ErrAbsent): // a missing hint is no problem: readers list the generations
	case hint.bad != nil:
		v.problem(Damaged, p, hintKey, "is no copy of a generation: %v", hint.bad)
	case number > newest && h.copied(hint):
		v.problem(Damaged, p, hintKey, "says that it is generation %d, and is a copy of another", number)
	case number > newest:
		for ; newest < number; newest++ {
			v.problem(Missing, p, layout.ManifestKey(p, newest+1), "is missing, and the hint is a copy of generation %d", number)
		}
		return hint, nil
	case number < h.first: // a copy of a generation that was deleted since
	case same:
	case number < newest && h.at(number+1).Parent == hint.hash: // the method chain reports it
	case number == newest && (last == nil || h.faults(hint, exists) < h.faults(last, exists)):
		if last != nil {
			v.problem(Damaged, p, layout.ManifestKey(p, newest), "is not what the hint is a copy of, and names what never was")
		}
		return hint, nil
	default:
		v.problem(Damaged, p, hintKey, "is no copy of generation %d", number)
	}
	if newest == 0 {
		return &generation{Manifest: manifest.Manifest{Partition: p}}, nil
	}
	return last, nil
}

// copied is called if the hint says that it is a copy of generation n (a version of the manifest),
// and n is higher than the number of every stored generation. Either the number n is wrong, or
// generation n was lost. copied reports whether n is wrong. The hint also has the hash of its parent;
// if n is right, the parent is generation n - 1. So n is wrong in two cases:
//
//   - The hint's parent is stored, but under another number than n - 1.
//   - Generation n - 1 is stored, but neither it nor another stored generation is the hint's parent.
func (h *history) copied(hint *generation) bool {
	before := hint.Generation - 1
	for i, g := range h.generations {
		if g.hash != "" && g.hash == hint.Parent {
			return h.first+uint64(i) != before
		}
	}
	return before > 0 && before == h.newest()
}

// faults returns the number of faults in g, which claims to be the newest generation (version of the
// manifest) of a partition. There are two kinds of faults:
//
//   - g has a wrong hash of its parent, the generation before it (at most one fault)
//   - an object that g lists is missing, or has another size than g says (one fault for each object)
//
// The parameter exists has the sizes of the objects that the partition has in the bucket, by key.
func (h *history) faults(g *generation, exists map[string]int64) (n int) {
	if before := h.at(h.newest() - 1); before != nil && before.bad == nil && before.hash != g.Parent {
		n++
	}
	for key, bytes := range g.Objects() {
		if size, found := exists[key]; !found || size != bytes {
			n++
		}
	}
	return n
}

// before returns the newest readable generation (version of the manifest) of a partition. It is
// called if the newest generation is unreadable. It returns nil if no generation is readable.
func (v *run) before(ctx context.Context, p layout.Partition) (*generation, error) {
	m, err := manifest.Read(ctx, v.Bucket, p)
	switch {
	case errors.Is(err, blob.ErrRetryable) || ctx.Err() != nil:
		return nil, err
	case err != nil || m.Generation == 0: // reported by the method inForce
		return nil, nil
	}
	return &generation{Manifest: m, hash: m.Hash()}, nil
}

// lost reports each object which proves that generations (versions of the manifest) after the given
// one existed, and are lost. It returns true if there is such an object.
func (v *run) lost(ctx context.Context, newest manifest.Manifest) (bool, error) {
	found, err := partition.Lost(ctx, v.Bucket, newest)
	for _, e := range found {
		v.problem(Lost, newest.Partition, e.Key, "%s; run bucketsearch verify --repair, which makes a generation anew from what is there", e.Detail)
	}
	return len(found) > 0, err
}

// uncommitted adds a note to the report for each book that no version of the manifest lists although
// batches of the book are still in the spool. Usually pack was killed between storing the book and
// committing a version that lists it. The next run of pack packs the batches again. Call uncommitted
// only if the method lost finds nothing: a lost version of the manifest may have listed the book.
func (v *run) uncommitted(ctx context.Context, newest manifest.Manifest) error {
	found, err := partition.FindUncommitted(ctx, v.Bucket, newest)
	for _, u := range found {
		what := "batch " + u.Batches[0].String() + " was put and never committed, or its commit is lost; the next start packs it"
		if n := len(u.Batches); n > 1 {
			what = fmt.Sprintf("batch %s and %d more were put and never committed, or their commit is lost; the next start packs them", u.Batches[0], n-1)
		}
		v.report.Notes = append(v.report.Notes, fmt.Sprintf("%s is in no generation: %s", u.Key, what))
	}
	return err
}
