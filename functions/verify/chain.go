package verify

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// generation is one generation as its bytes say.
type generation struct {
	manifest.Manifest
	hash string // of the bytes
	bad  error  // why it cannot be read
}

// read returns the generation that is stored under a key. It fails only when
// the store does.
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

// history is all generations of a partition. Of each but the newest only the
// hashes are kept.
type history struct {
	hint        generation
	generations []generation // number 1 first
}

// history reads the hint first and lists then: a hint that is newer than what
// is listed speaks of what is lost, and not of what has come meanwhile.
func (v *run) history(ctx context.Context, p layout.Partition) (history, error) {
	var h history
	var err error
	if h.hint, err = read(ctx, v.Bucket, p, layout.HintKey(p)); err != nil {
		return history{}, err
	}
	var newest uint64
	for object, err := range v.Bucket.List(ctx, layout.ManifestPrefix(p), "") {
		if err != nil {
			return history{}, fmt.Errorf("cannot list manifests of partition %s: %w", p, err)
		}
		if _, number, err := layout.ParseManifestKey(object.Key); err == nil {
			newest = number
		}
	}
	h.generations = make([]generation, newest)
	progress := v.stage(Manifests, int64(newest))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * runtime.GOMAXPROCS(0))
	for i := range h.generations {
		group.Go(func() error {
			number := uint64(i) + 1
			g, err := read(ctx, v.Bucket, p, layout.ManifestKey(p, number))
			if err != nil {
				return err
			}
			if g.bad == nil && g.Generation != number {
				g.bad = fmt.Errorf("it is of generation %d", g.Generation)
			}
			if number < newest {
				g.Manifest = manifest.Manifest{Parent: g.Parent}
			}
			h.generations[i] = g
			progress.add(1)
			return nil
		})
	}
	return h, group.Wait()
}

// chain checks that every generation is the one from which the next followed,
// from the one in force back to the first. One that is damaged says nothing of
// the one before.
func (v *run) chain(p layout.Partition, h history, inForce *generation) {
	parent, known := "", false
	if inForce != nil {
		parent, known = inForce.Parent, true
	}
	for i := len(h.generations) - 1; i >= 0; i-- {
		g, number := &h.generations[i], uint64(i)+1
		switch key := layout.ManifestKey(p, number); {
		case g.bad != nil:
			detail := "is no generation that can be read: %v"
			if inForce != nil && number < inForce.Generation {
				detail = "is lost to history, on which nothing of today depends: %v"
			}
			v.problem(unreadable(g.bad), p, key, detail, g.bad)
			known = false
		case inForce != nil && number >= inForce.Generation:
		case known && g.hash != parent:
			v.problem(Damaged, p, key, "is not what it was when generation %d followed it", number+1)
			known = false
		default:
			parent, known = g.Parent, true
		}
	}
	if known && parent != "" && len(h.generations) > 0 {
		v.problem(Damaged, p, layout.ManifestKey(p, 1), "says that it is not the first generation")
	}
	v.count(func(r *Report) { r.Generations += len(h.generations) })
}

// inForce returns the newest generation, from its object or, where that is
// lost or says less that is true, from the hint. It returns nil if there is
// none that can be read; then everything that the partition holds is unknown.
func (v *run) inForce(p layout.Partition, h history, exists map[string]int64) *generation {
	newest := len(h.generations)
	var last *generation
	if newest > 0 && h.generations[newest-1].bad == nil {
		last = &h.generations[newest-1]
	}
	hint, hintKey := &h.hint, layout.HintKey(p)
	number := int(hint.Generation)
	switch {
	case errors.Is(hint.bad, blob.ErrAbsent): // a lost hint costs a listing and nothing else
	case hint.bad != nil:
		v.problem(Damaged, p, hintKey, "is no copy of a generation: %v", hint.bad)
	case number > newest && h.copied(hint):
		v.problem(Damaged, p, hintKey, "says that it is generation %d, and is a copy of another", number)
	case number > newest:
		for ; newest < number; newest++ {
			v.problem(Missing, p, layout.ManifestKey(p, uint64(newest)+1), "is missing, and the hint is a copy of generation %d", number)
		}
		return hint
	case h.generations[number-1].hash == hint.hash:
	case number < newest && h.generations[number].Parent == hint.hash: // told by the chain
	case number == newest && (last == nil || h.faults(hint, exists) < h.faults(last, exists)):
		if last != nil {
			v.problem(Damaged, p, layout.ManifestKey(p, uint64(newest)), "is not what the hint is a copy of, and names what never was")
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

// copied reports whether a hint of a generation that is not there follows from
// one that is there, but is not its next: its number was changed.
func (h history) copied(hint *generation) bool {
	before := int(hint.Generation) - 1
	for i, g := range h.generations {
		if g.hash == hint.Parent {
			return i+1 != before
		}
	}
	return before == len(h.generations)
}

// faults counts what speaks against one of two that claim to be the newest
// generation.
func (h history) faults(g *generation, exists map[string]int64) (n int) {
	if before := len(h.generations) - 2; before >= 0 && h.generations[before].bad == nil && h.generations[before].hash != g.Parent {
		n++
	}
	for key, bytes := range listed(&g.Manifest) {
		if size, found := exists[key]; !found || size != bytes {
			n++
		}
	}
	return n
}

func unreadable(err error) Kind {
	if errors.Is(err, blob.ErrAbsent) {
		return Missing
	}
	return Damaged
}
