package query

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

// generations holds the generation of every partition at one moment.
//
//	partition                                         has
//	all generations can be read                       its generation
//	newest ones lost or damaged, an earlier one read  the earlier one, and an entry in later
//	no generation can be read                         the zero generation, and an entry in faults
type generations struct {
	manifests []manifest.Manifest
	// a partition.Fault for each partition of which no generation can be read
	faults map[layout.Partition]error
	// a partition.Fault for each partition whose newest generations cannot be read, but an earlier
	// one can
	later map[layout.Partition]error
}

// read reads a generation of each partition: it calls the function one for every partition, all at
// the same time. A partition.Fault that a call returns goes into the field faults of the result,
// and read goes on with the other partitions. It returns any other error.
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

// same reports whether g and the parameter other have the same generation of each partition, and
// faults of the same partitions.
func (g generations) same(other generations) bool {
	return maps.EqualFunc(g.faults, other.faults, func(a, b error) bool { return true }) &&
		slices.EqualFunc(g.manifests, other.manifests, func(a, b manifest.Manifest) bool { return a.Partition == b.Partition && a.Hash() == b.Hash() })
}

// lost returns a Lost for those of the given partitions that have an entry in g.faults or g.later;
// nil if none of them has.
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

// allLost returns a Lost if no partition can be searched because of faults; else nil.
func (g generations) allLost() error {
	if len(g.faults) == 0 || slices.ContainsFunc(g.manifests, func(m manifest.Manifest) bool { return m.Generation > 0 }) {
		return nil
	}
	return g.anyLost()
}

// anyLost returns a Lost with all partitions that have an entry in g.faults or g.later; nil if
// there are none.
func (g generations) anyLost() *Lost {
	all := slices.Concat(slices.Collect(maps.Keys(g.faults)), slices.Collect(maps.Keys(g.later)))
	slices.Sort(all)
	return g.lost(all)
}

// Lost is the error that generations of partitions are lost or damaged. Pages that only these
// generations list are unknown.
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
