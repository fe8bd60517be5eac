package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// undoForget takes takedowns back, and prints for each target what became of it. It fails if none of the
// targets is forgotten, or if the pages of one are being erased.
func undoForget(cmd *cobra.Command, a *system.Attached, targets []target, where *location) error {
	erased, err := erasedEverywhere(cmd.Context(), a)
	if err != nil {
		return err
	}
	results, err := takedown.Undo(cmd.Context(), a.Bucket, erased, entriesOf(targets)...)
	if err != nil {
		return err
	}
	out := where.sentences(cmd.OutOrStdout(), false)
	known, late := false, false
	for i, t := range targets {
		name := t.address.URL
		if t.site {
			name = t.address.Site
		}
		switch results[i] {
		case takedown.Restored:
			fmt.Fprintf(out, "%s is no longer forgotten: what is stored of it is found again within seconds.\n", name)
		case takedown.Lifted:
			fmt.Fprintf(out, "%s may be crawled again. Its pages are erased and cannot come back; to fetch them anew: bucketsearch crawl %s\n", name, quoted(name))
		case takedown.TooLate:
			late = true
			fmt.Fprintf(out, "%s is being erased, which cannot be stopped. When verify says that nothing is left, bucketsearch forget --undo lets it be crawled again.\n", name)
		}
		known = known || results[i] != takedown.Unknown
	}
	switch {
	case !known:
		return errors.New("nothing was taken back: no takedown names this address or site itself; a URL may be forgotten with its whole site")
	case late:
		return endBy(exitFailed)
	}
	return nil
}

// undoTakedown takes back the takedown with the given number, whatever pages or sites it names, and prints the
// result. It fails if all of it was taken back already, or if its pages are being erased.
func undoTakedown(cmd *cobra.Command, a *system.Attached, number uint64, where *location) error {
	entries, err := takedown.Added(cmd.Context(), a.Bucket, number)
	if errors.Is(err, blob.ErrAbsent) {
		return fmt.Errorf("there is no takedown %d", number)
	}
	if err != nil {
		return err
	}
	erased, err := erasedEverywhere(cmd.Context(), a)
	if err != nil {
		return err
	}
	results, err := takedown.Undo(cmd.Context(), a.Bucket, erased, entries...)
	if err != nil {
		return err
	}
	became := make(map[takedown.Undone]int)
	for _, result := range results {
		became[result]++
	}
	out := where.sentences(cmd.OutOrStdout(), false)
	for _, line := range []struct {
		of   takedown.Undone
		text string
	}{
		{takedown.Restored, "no longer forgotten: what is stored of them is found again within seconds"},
		{takedown.Lifted, "may be crawled again; their pages are erased and cannot come back"},
		{takedown.TooLate, "being erased, which cannot be stopped; when verify says that nothing is left, the same command lets them be crawled again"},
	} {
		if n := became[line.of]; n > 0 {
			fmt.Fprintf(out, "Takedown %d: %s %s.\n", number, count(n, "address"), line.text)
		}
	}
	switch {
	case len(results) == became[takedown.Unknown]:
		return fmt.Errorf("nothing was taken back: nothing that takedown %d names is forgotten any more", number)
	case became[takedown.TooLate] > 0:
		return endBy(exitFailed)
	}
	return nil
}

// erasedEverywhere returns the latest version of the takedowns whose pages every partition has erased;
// the greatest number if nothing was ever stored.
func erasedEverywhere(ctx context.Context, a *system.Attached) (uint64, error) {
	inForce, err := a.Settings.Get(ctx)
	if err != nil {
		return 0, err
	}
	erased := uint64(math.MaxUint64)
	for _, p := range inForce.Partitions() {
		m, err := partition.Read(ctx, a.Bucket, p)
		if err != nil {
			return 0, err
		}
		if m.Generation > 0 { // otherwise nothing was ever stored there
			erased = min(erased, m.Forgotten)
		}
	}
	return erased, nil
}
