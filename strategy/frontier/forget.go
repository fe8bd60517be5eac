package frontier

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/run"
)

// Removal says how much of a URL Forget removes.
type Removal bool

// Values of Removal.
const (
	Unqueue Removal = false // the URL is not requested any more, but its final state stays if it has one
	Remove  Removal = true  // the URL is removed with its final state
)

// Forget removes URLs from the frontier. Afterwards the frontier does not know them or, with Unqueue, knows only
// their final states. A URL on lease stays in its batch, so its outcome may make it known again. Unknown URLs are
// ignored.
//
// First, a script removes the states of the URLs. The texts of URLs that wait are then still in the queues of
// their hosts. After that, Forget reads all queues and deletes these texts.
func (f *Frontier) Forget(ctx context.Context, urls map[layout.Identity]Removal) error {
	args := make([]any, 0, 2*len(urls))
	for id, removal := range urls {
		args = append(args, string(id[:]), bool(removal))
	}
	queued, inRuns := make(map[string]bool), f.searchRuns(ctx, urls)
	for part := range slices.Chunk(args, 2*chunk) {
		ids, err := f.over(ctx, inRuns, forgetScript, part...).StringSlice()
		if err != nil {
			return f.failed("forget in", err)
		}
		for _, id := range ids {
			queued[id] = true
		}
	}
	return f.wrap("forget in", f.drop(ctx, queued))
}

// drop deletes elements (records of URLs in queues) from all queues: those of the URLs with the given identities,
// and those of URLs that an earlier call of Forget has removed (see the hash dropped in the package comment). If
// there are no such URLs, it reads nothing. It may miss an element that another call moves meanwhile; a lease that
// finds the element drops it.
func (f *Frontier) drop(ctx context.Context, dropped map[string]bool) error {
	fields, err := f.rdb.HKeys(ctx, f.key("dropped")).Result()
	if err != nil || len(fields)+len(dropped) == 0 {
		return err
	}
	for _, id := range fields {
		dropped[id] = true
	}
	generation, err := f.generation(ctx)
	if err != nil {
		return err
	}
	for cursor := uint64(0); ; {
		page, next, err := f.rdb.HScan(ctx, f.key("filled"), cursor, "", chunk).Result()
		if err != nil {
			return err
		}
		for i := 0; i+1 < len(page); i += 2 {
			host, letters := page[i], strings.ToLower(page[i+1])
			for at, key := range f.queuesOf(generation, host, letters) {
				if err := f.dropFrom(ctx, key, host, int(letters[at]-'a')+1, dropped); err != nil {
					return err
				}
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// dropFrom deletes the elements of removed URLs from one queue of a host. The parameter number is the number of
// the queue, from 1, as scripts use it.
func (f *Frontier) dropFrom(ctx context.Context, key, host string, number int, dropped map[string]bool) error {
	found := []any{host, number}
	for from := int64(0); ; from += chunk {
		elements, err := f.rdb.LRange(ctx, key, from, from+chunk-1).Result()
		if err != nil {
			return err
		}
		for _, element := range elements {
			if len(element) >= len(layout.Identity{}) && dropped[element[:len(layout.Identity{})]] {
				found = append(found, element)
			}
		}
		if len(elements) < chunk {
			break
		}
	}
	for part := range slices.Chunk(found[2:], chunk) {
		if err := f.run(ctx, dropScript, slices.Concat(found[:2], part)...).Err(); err != nil {
			return err
		}
	}
	return nil
}

// searchRuns returns a function for over, which returns the names in runs of those of the given URLs that the runs
// have. The sites of the URLs are not known, so it searches all runs by identity.
func (f *Frontier) searchRuns(ctx context.Context, wanted map[layout.Identity]Removal) func(list string) ([]run.URL, error) {
	var searched string // list of runs
	var found []run.URL // in these runs
	ids := make(map[layout.Identity]bool, len(wanted))
	for id, removal := range wanted {
		if removal == Remove {
			ids[id] = true
		}
	}
	return func(text string) ([]run.URL, error) {
		if text == searched {
			return found, nil
		}
		list, err := parseList(text)
		if err != nil {
			return nil, err
		}
		runs := slices.Concat(list.Groups...)
		records := make([][]run.Record, len(runs))
		group, within := errgroup.WithContext(ctx)
		group.SetLimit(readAtOnce)
		for i, listed := range runs {
			group.Go(func() error {
				r, err := f.cache.open(within, f.bucket, layout.RunKey(f.partition, listed.Hash))
				if err == nil {
					records[i], err = r.FindIDs(within, ids)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		found = nil
		for _, record := range slices.Concat(records...) {
			found = append(found, record.URL)
		}
		searched = text
		return found, nil
	}
}
