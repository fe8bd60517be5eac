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

// generation is one generation, or the hint, as read from the bucket.
type generation struct {
	manifest.Manifest
	hash string // content hash of the bytes; "" if the object is missing
	bad  error  // why the generation cannot be read; nil if it can
}

// read returns the generation stored under a key. If it is missing or damaged, read returns it with
// the reason in the field bad. read fails only if the object store fails.
func read(ctx context.Context, bucket blob.Reader, p layout.Partition, key string) (generation, error) {
	content, err := bucket.Get(ctx, key, blob.Range{})
	if errors.Is(err, blob.ErrAbsent) {
		return generation{bad: err}, nil
	}
	if err != nil {
		return generation{}, fmt.Errorf("cannot read manifest %s: %w", key, err)
	}
	g := generation{hash: layout.ContentHash(content)}
	g.Manifest, g.bad = manifest.Decode(p, content)
	return g, nil
}

// history holds all generations of a partition. A generation whose object is missing has an
// element, too, with the reason in its field bad. Only the newest generation has its whole
// manifest; the others have only their hash, their parent's hash and their time.
type history struct {
	hint        generation // hint as read; it should be a copy of a generation
	first       uint64     // number of the generation in generations[0]; 1 if generations is empty
	generations []generation
}

// newest returns the number of the newest generation.
func (h *history) newest() uint64 { return h.first + uint64(len(h.generations)) - 1 }

// at returns a generation by its number; nil if the history holds no generation with that number.
func (h *history) at(number uint64) *generation {
	if number < h.first || number > h.newest() {
		return nil
	}
	return &h.generations[number-h.first]
}

// history reads the hint and all generations of a partition. It reads the hint first, and then
// lists the generations. So if the hint is newer than all of them, a generation is lost; it is not
// just a commit that came in between.
func (v *run) history(ctx context.Context, p layout.Partition) (history, error) {
	var h history
	var err error
	if h.hint, err = read(ctx, v.Bucket, p, layout.HintKey(p)); err != nil {
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
			g, err := read(ctx, v.Bucket, p, layout.ManifestKey(p, number))
			if err != nil {
				return err
			}
			if g.bad == nil && g.Generation != number {
				g.bad = fmt.Errorf("it is of generation %d", g.Generation)
			}
			if number < newest {
				g.Manifest = manifest.Manifest{Parent: g.Parent, Time: g.Time}
			}
			h.generations[i] = g
			progress.add(1)
			return nil
		})
	}
	return h, group.Wait()
}

// chain checks that every generation has the hash that the next generation names as its parent. It
// checks them from the generation in force (the parameter inForce; nil if it cannot be read) back
// to the oldest one that must be kept. It reports damaged and missing generations. The generation
// before a damaged one cannot be checked.
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

// missing reports the missing generations with the numbers in the parameter lost, except those that
// the sweep has deleted since this verification began.
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

// unread returns the text that follows the object's key in the report of an unreadable generation,
// whose number is the parameter number. If the generation is
//
//	the newest      the text says that no generation can be read
//	an older one    the text says that nothing of today depends on it, and when the sweep deletes it, which
//	                ends the problem
func (h *history) unread(inForce *generation, number uint64) string {
	if inForce == nil || number >= inForce.Generation {
		return "is no generation that can be read"
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

// inForce returns the newest generation. It takes this generation from its own object, or from the
// hint if that object is missing or has more faults than the hint. It returns nil if neither can be
// read: then the contents of the partition are unknown. It reports a hint that is not a copy of a
// generation. The parameter exists has the sizes of the partition's objects, by key.
func (v *run) inForce(p layout.Partition, h history, exists map[string]int64) *generation {
	newest := h.newest()
	var last *generation
	if g := h.at(newest); g != nil && g.bad == nil {
		last = g
	}
	hint, hintKey := &h.hint, layout.HintKey(p)
	number := hint.Generation
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
		return hint
	case number < h.first: // a copy of a generation that was deleted since
	case h.at(number).hash == hint.hash:
	case number < newest && h.at(number+1).Parent == hint.hash: // the method chain reports it
	case number == newest && (last == nil || h.faults(hint, exists) < h.faults(last, exists)):
		if last != nil {
			v.problem(Damaged, p, layout.ManifestKey(p, newest), "is not what the hint is a copy of, and names what never was")
		}
		return hint
	default:
		v.problem(Damaged, p, hintKey, "is no copy of generation %d", number)
	}
	if newest == 0 {
		return &generation{Manifest: manifest.Manifest{Partition: p}}
	}
	return last
}

// copied reports whether the number in a hint is wrong. A hint should be a copy of the newest
// generation. copied is called if its number n is higher than the numbers of all stored
// generations. Then either n is wrong, or the generations up to n are lost. n counts as wrong in
// two cases:
//
//   - the hint's parent, the generation before it, is stored, but under another number than n - 1;
//   - the highest stored number is n - 1, at least 1, but the hint's parent is not stored.
func (h *history) copied(hint *generation) bool {
	before := hint.Generation - 1
	for i, g := range h.generations {
		if g.hash != "" && g.hash == hint.Parent {
			return h.first+uint64(i) != before
		}
	}
	return before > 0 && before == h.newest()
}

// faults returns the number of faults of a generation that may be the newest. A wrong parent is one
// fault, and so is each listed object that is missing or has another size. The parameter exists has
// the sizes of the partition's objects.
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

// before returns the newest readable generation of a partition whose newest generation cannot be
// read. It returns nil if there is none.
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

// lost reports every object which proves that a partition had generations after the one in the
// parameter newest. It returns true if there is such an object.
func (v *run) lost(ctx context.Context, newest manifest.Manifest) (bool, error) {
	found, err := partition.Lost(ctx, v.Bucket, newest)
	for _, e := range found {
		v.problem(Lost, newest.Partition, e.Key, "%s; run bucketsearch verify --repair, which makes a generation anew from what is there", e.Detail)
	}
	return len(found) > 0, err
}

// uncommitted adds notes to the report about books and packages that no generation lists. Call it
// only if no object proves that generations are lost.
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
