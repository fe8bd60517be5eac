package frontier

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/run"
)

const (
	runURLs  = 1 << 20 // greatest number of URLs in a run: some 18 MB
	mostURLs = 1 << 25 // greatest number of URLs in a group that is merged from others: it is rewritten within minutes
)

// errRetired means that another process has changed the list of runs meanwhile.
var errRetired = errors.New("another process moves states of finished URLs")

// Retire moves the states of finished URLs from Redis to a run in the bucket (see the package comment), and returns
// their number. It looks only at the given URLs, which may be in any order, and leaves out those that are not
// finished. Afterwards all methods work as before, but may have to read some of the run. Retire does nothing if
// another process retires at the same time.
//
// The steps are such that Retire may be killed after each of them:
//
//	1  If there is no list of runs, an empty one is put into Redis. From now on, Forget leaves a mark in Redis for
//	   each URL that it removes, because a run may have its state.
//	2  The states are read from Redis, and written to a run. Smaller groups of runs are merged with it.
//	3  The new list of runs is put into Redis, if the list has not changed since step 1. From now on, calls that were
//	   prepared by the earlier list fail, and are prepared again. A state that is both in Redis and in a run counts as
//	   it is in Redis.
//	4  The states are deleted in Redis, but for those that have changed since step 2.
//	5  The runs that were merged are deleted.
func (f *Frontier) Retire(ctx context.Context, urls []run.URL) (int, error) {
	before, err := f.readList(ctx)
	if err != nil {
		return 0, f.failed("retire from", err)
	}
	n, err := f.retire(ctx, before, urls)
	if errors.Is(err, errRetired) {
		return 0, nil
	}
	if isLost(err) {
		err = f.loseRun(ctx, before, err)
	}
	return n, f.wrap("retire from", err)
}

// retire does what Retire does. The parameter before is the list of runs in Redis.
func (f *Frontier) retire(ctx context.Context, before string, urls []run.URL) (int, error) {
	list, err := parseList(before)
	if err != nil {
		return 0, err
	}
	if before == "" {
		list.Name = rand.Text()
		if before, err = f.putList(ctx, "", list, nil); err != nil {
			return 0, err
		}
	}
	finished, err := f.finished(ctx, urls)
	if err != nil || len(finished) == 0 {
		return 0, err
	}
	former := slices.Concat(list.Groups...)
	if list.Groups, err = f.add(ctx, list.Groups, finished); err != nil {
		return 0, err
	}
	args := make([]any, 0, 2*len(finished))
	for _, one := range finished {
		args = append(args, string(one.ID[:]), one.State)
	}
	parts := slices.Collect(slices.Chunk(args, 2*chunk))
	if before, err = f.putList(ctx, before, list, parts[0]); err != nil {
		return 0, err
	}
	for _, part := range parts[1:] {
		if err := f.call(ctx, retireScript, "", &ownerFence{key: f.key("runs"), value: before, err: errRetired}, part).Err(); err != nil {
			return 0, err
		}
	}
	present := slices.Concat(list.Groups...)
	for _, one := range former {
		if !slices.Contains(present, one) {
			if err := f.bucket.Delete(ctx, layout.RunKey(f.partition, one.Hash)); err != nil {
				return 0, err
			}
		}
	}
	return len(finished), nil
}

// putList replaces the list of runs in Redis, which must still be the parameter before, and deletes the states of
// some URLs, which are arguments of the script retire. It returns the text of the new list.
func (f *Frontier) putList(ctx context.Context, before string, list runList, states []any) (string, error) {
	text, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	fence := ownerFence{key: f.key("runs"), value: before, next: string(text), err: errRetired}
	return string(text), f.call(ctx, retireScript, "", &fence, states).Err()
}

// finished returns the states in Redis of those of the given URLs that are finished, and of which no outdated
// element is in a queue. The records are sorted, as in a run.
func (f *Frontier) finished(ctx context.Context, urls []run.URL) (records []run.Record, err error) {
	urls = slices.SortedFunc(slices.Values(urls), run.URL.Compare)
	urls = slices.Compact(urls)
	ids := make([]layout.Identity, len(urls))
	for i, u := range urls {
		ids[i] = u.ID
	}
	states, err := f.held(ctx, ids)
	for i, state := range states {
		if len(state) > 0 && strings.ContainsRune("skf", rune(state[0])) && len(state)%8 == finalBytes%8 && len(state) <= run.MaxState {
			records = append(records, run.Record{URL: urls[i], State: state})
		}
	}
	return records, err
}

// InRedis returns those of the given URLs that Retire would move: the finished ones whose states Redis holds. They are
// sorted, as in a run.
func (f *Frontier) InRedis(ctx context.Context, urls []run.URL) ([]run.URL, error) {
	records, err := f.finished(ctx, urls)
	if err != nil {
		return nil, f.failed("look into", err)
	}
	found := make([]run.URL, len(records))
	for i, one := range records {
		found[i] = one.URL
	}
	return found, nil
}

// add writes a run with these records, as the last group. It first merges the last groups with the new one, as long
// as they have at most twice as many URLs together as the new one, and not too many to be rewritten by one call. So
// there are few groups, and each URL is merged few times.
func (f *Frontier) add(ctx context.Context, groups [][]listedRun, records []run.Record) ([][]listedRun, error) {
	merged := mergedFrom(groups, len(records), mostURLs)
	all := func(yield func(run.Record, error) bool) {
		for _, one := range records {
			if !yield(one, nil) {
				return
			}
		}
	}
	sources := iter.Seq2[run.Record, error](all)
	for _, group := range slices.Backward(groups[merged:]) {
		sources = merge(f.all(ctx, group), sources)
	}
	var added []listedRun
	var some []run.Record
	flush := func() error {
		if len(some) == 0 {
			return nil
		}
		content, err := run.Encode(some)
		if err != nil {
			return err
		}
		one := listedRun{layout.ContentHash(content), bound{some[0].URL}, bound{some[len(some)-1].URL}, len(some)}
		added, some = append(added, one), some[:0]
		key := layout.RunKey(f.partition, one.Hash)
		err = blob.CreateOnce(ctx, f.bucket, key, content)
		if errors.Is(err, blob.ErrExists) { // it is damaged: its name says that it had this content
			err = f.bucket.Replace(ctx, key, content)
		}
		return err
	}
	for one, err := range sources {
		if err != nil {
			return nil, err
		}
		if some = append(some, one); len(some) >= runURLs {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return append(slices.Clone(groups[:merged]), added), nil
}

// mergedFrom returns the index of the first of the last groups that are merged with a new one of so many URLs; the
// merged group has at most the number most of URLs.
func mergedFrom(groups [][]listedRun, urls, most int) int {
	from := len(groups)
	for from > 0 {
		last := sizeOf(groups[from-1])
		if last > 2*urls || last+urls > most {
			break
		}
		from, urls = from-1, urls+last
	}
	return from
}

// all yields the records of a group of runs, in their order.
func (f *Frontier) all(ctx context.Context, group []listedRun) iter.Seq2[run.Record, error] {
	return func(yield func(run.Record, error) bool) {
		for _, listed := range group {
			r, err := run.Open(ctx, f.bucket, layout.RunKey(f.partition, listed.Hash))
			if err != nil {
				yield(run.Record{}, err)
				return
			}
			for one, err := range r.All(ctx) {
				if !yield(one, err) || err != nil {
					return
				}
			}
		}
	}
}

// merge yields the records of two sorted sequences, in their order. Of a URL that is in both, it yields the record of
// the later sequence. An error ends the sequence.
func merge(earlier, later iter.Seq2[run.Record, error]) iter.Seq2[run.Record, error] {
	return func(yield func(run.Record, error) bool) {
		next, stop := iter.Pull2(earlier)
		defer stop()
		old, err, more := next()
		for one, errOne := range later {
			for more && err == nil && errOne == nil && old.Compare(one.URL) <= 0 {
				if old.URL != one.URL && !yield(old, nil) {
					return
				}
				old, err, more = next()
			}
			if err = errors.Join(err, errOne); !yield(one, err) || err != nil {
				return
			}
		}
		for more {
			if !yield(old, err) || err != nil {
				return
			}
			old, err, more = next()
		}
	}
}

// Finished returns the number of finished URLs whose states are in Redis, and not only in runs.
func (f *Frontier) Finished(ctx context.Context) (int64, error) {
	fields := []string{"here", "w", "l", "p", "Ws", "Wk", "Wf", "Ls", "Lk", "Lf"}
	numbers, err := f.numbers(ctx, "counts", fields)
	if err != nil {
		return 0, f.failed("count", err)
	}
	for _, pending := range numbers[1:] {
		numbers[0] -= pending
	}
	return numbers[0], nil
}

// ClearRuns deletes runs that the frontier does not need: those that were stored before the time given, and that are
// not in the list of runs. They are left behind by processes that were killed, and by frontiers before a rebuild. It does
// nothing while the frontier is rebuilt: the rebuild may store an old run anew, with the same key, before it lists the run.
func (f *Frontier) ClearRuns(ctx context.Context, before time.Time) error {
	if _, err := f.Epoch(ctx); errors.Is(err, ErrNotBuilt) {
		return nil
	}
	objects, err := blob.List(ctx, f.bucket, layout.RunPrefix(f.partition))
	if err != nil {
		return err
	}
	text, err := f.readList(ctx) // read after the objects: a run is stored before it is listed
	if err != nil {
		return f.failed("clear runs of", err)
	}
	list, err := parseList(text)
	if err != nil {
		return f.failed("clear runs of", err)
	}
	needed := make(map[string]bool)
	for _, one := range slices.Concat(list.Groups...) {
		needed[layout.RunKey(f.partition, one.Hash)] = true
	}
	for _, object := range objects {
		if needed[object.Key] || layout.IsForeign(object.Key) || !object.Modified.Before(before) {
			continue
		}
		if err := f.bucket.Delete(ctx, object.Key); err != nil {
			return f.failed("clear runs of", fmt.Errorf("delete %s: %w", object.Key, err))
		}
	}
	return nil
}
