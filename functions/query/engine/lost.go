package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// generations holds the manifest of each partition as it is at one moment: its newest generation
// (version) at that time. Generations that are lost or damaged are treated so:
//
//	what can be read of a partition                manifests has          error in
//	its newest generation                          that generation        none
//	only an earlier generation                     that generation        later
//	no generation                                  an empty manifest      faults
type generations struct {
	manifests []manifest.Manifest
	// a partition.Fault for each partition of which no generation can be read
	faults map[layout.Partition]error
	// a partition.Fault for each partition of which an earlier generation was read, because newer
	// ones are lost or damaged
	later map[layout.Partition]error
}

// read reads one generation (version of the manifest) of each partition. It calls one(ctx, p) for
// every partition p, all at the same time. If a call returns a partition.Fault, read stores it in
// the field faults of the result, and goes on with the other partitions. It returns any other
// error.
func read(ctx context.Context, partitions []layout.Partition, one func(context.Context, layout.Partition) (manifest.Manifest, error)) (generations, error) {
	manifests, faults := make([]manifest.Manifest, len(partitions)), make([]error, len(partitions))
	fork := meter.NewFork(ctx)
	var group errgroup.Group
	for i, p := range partitions {
		group.Go(func() (err error) {
			manifests[i], err = one(fork.Branch(), p)
			if partition.IsFault(err) {
				manifests[i], faults[i], err = manifest.Manifest{Partition: p}, err, nil
			}
			return err
		})
	}
	g := generations{manifests: manifests, faults: make(map[layout.Partition]error), later: make(map[layout.Partition]error)}
	err := group.Wait()
	for i, fault := range faults {
		if fault != nil {
			g.faults[partitions[i]] = fault
		}
		if later := partition.Later(&manifests[i]); later != nil {
			g.later[partitions[i]] = later
		}
	}
	return g, err
}

// same reports whether g and other hold the same generation (version of the manifest) of every
// partition, and have faults of the same partitions. The errors in the faults may differ.
func (g generations) same(other generations) bool {
	return maps.EqualFunc(g.faults, other.faults, func(a, b error) bool { return true }) &&
		slices.EqualFunc(g.manifests, other.manifests, func(a, b manifest.Manifest) bool { return a.Partition == b.Partition && a.Hash() == b.Hash() })
}

// lost returns a Lost that names the damaged ones among the given partitions: their newest manifest
// is lost or cannot be read (they have an entry in g.faults or g.later). If none of the given
// partitions is damaged, lost returns nil.
func (g generations) lost(of []layout.Partition) *Lost {
	var lost Lost
	for _, p := range of {
		if fault := cmp.Or(g.faults[p], g.later[p]); fault != nil {
			lost.Partitions, lost.faults = append(lost.Partitions, p), append(lost.faults, fault)
		}
	}
	if lost.Partitions == nil {
		return nil
	}
	return &lost
}

// allLost returns a Lost if nothing can be searched because generations are lost or damaged: no
// partition has a generation that can be read. Otherwise it returns nil.
func (g generations) allLost() error {
	if len(g.faults) == 0 || slices.ContainsFunc(g.manifests, func(m manifest.Manifest) bool { return m.Generation > 0 }) {
		return nil
	}
	return g.anyLost()
}

// anyLost returns a Lost that names all partitions whose newest manifest is lost or cannot be read
// (they have an entry in g.faults or g.later). It returns nil if there are none.
func (g generations) anyLost() *Lost {
	all := slices.Concat(slices.Collect(maps.Keys(g.faults)), slices.Collect(maps.Keys(g.later)))
	slices.Sort(all)
	return g.lost(all)
}

// Lost is the error that generations (versions of manifests) of some partitions are lost or
// damaged. Pages that only these generations list are unknown.
type Lost struct {
	Partitions []layout.Partition
	faults     []error
}

// Error implements error: it returns a sentence for the people who search.
func (l *Lost) Error() string {
	var names []string
	for _, p := range l.Partitions {
		names = append(names, p.String())
	}
	many := ""
	if len(names) > 1 {
		many = "s"
	}
	return fmt.Sprintf("Pages are missing: generations of partition%s %s are lost. To make them anew: bucketsearch verify --repair", many, strings.Join(names, ", "))
}

// Unwrap returns the faults of the partitions.
func (l *Lost) Unwrap() []error { return l.faults }
