package frontier

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/run"
)

const (
	runURLs  = 1 << 20 // greatest number of URLs in a run: some 18 MB
	mostURLs = 1 << 25 // greatest number of URLs in a group that is merged from others: it is rewritten within minutes
	// retireAtOnce is the number of URLs from which on their states are moved to a run, so that they need little memory.
	retireAtOnce = 1 << 17
	// scanned is the greatest number of states that Retire reads in Redis for each one that it moves.
	scanned = 16
)

// errRetired means that another process has changed the list of runs meanwhile.
var errRetired = errors.New("another process moves states of finished URLs")

// Retire moves the states of finished URLs from Redis to runs in the bucket (see the package comment), and returns
// their number. It does nothing as long as it could move at most so many as the parameter most says, or fewer than one
// in sixteen of all states that Redis holds: it reads them all. Afterwards all methods work as before, but may have to
// read some of the runs. Retire stops without an error if another process retires at the same time.
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
//
// If there are many finished URLs, the steps 2 to 5 are repeated for some of them at a time.
func (f *Frontier) Retire(ctx context.Context, most int64) (moved int, err error) {
	moved, err = f.retireAll(ctx, most)
	return moved, f.wrap("retire from", err)
}

// retireAll does what Retire does.
func (f *Frontier) retireAll(ctx context.Context, most int64) (moved int, err error) {
	h, err := f.holding(ctx)
	if err == nil && h.final < h.stayed {
		return 0, f.stay(ctx)
	}
	if movable := h.final - h.stayed; err != nil || movable <= most || movable < h.all/scanned {
		return 0, err
	}
	list, err := f.readList(ctx)
	if err == nil && list == "" {
		list, err = f.putList(ctx, "", runList{Name: rand.Text()}, nil)
	}
	if err == nil {
		moved, list, err = f.retireFrom(ctx, list)
	}
	if err == nil {
		err = f.stay(ctx)
	}
	if errors.Is(err, errRetired) {
		err = nil
	}
	if isLost(err) {
		err = f.loseRun(ctx, list, err)
	}
	return moved, err
}

// retireFrom moves the states of all finished URLs to runs. The parameter list is the list of runs in Redis; retireFrom
// returns the number of URLs, and the new list.
func (f *Frontier) retireFrom(ctx context.Context, list string) (moved int, now string, err error) {
	for some, err := range f.finished(ctx) {
		n := 0
		if err == nil {
			n, list, err = f.retire(ctx, list, some)
		}
		if err != nil {
			return moved, list, err
		}
		moved += n
	}
	return moved, list, nil
}

// retire moves the states of some finished URLs to a run. Its parameters and results are like those of retireFrom.
func (f *Frontier) retire(ctx context.Context, before string, finished []run.Record) (int, string, error) {
	list, err := parseList(before)
	if err != nil {
		return 0, before, err
	}
	former := slices.Concat(list.Groups...)
	if list.Groups, err = f.add(ctx, list.Groups, finished); err != nil {
		return 0, before, err
	}
	args := make([]any, 0, 2*len(finished))
	for _, one := range finished {
		args = append(args, string(one.ID[:]), one.State)
	}
	parts := slices.Collect(slices.Chunk(args, 2*chunk))
	now, err := f.putList(ctx, before, list, parts[0])
	if err != nil {
		return 0, before, err
	}
	for _, part := range parts[1:] {
		if err := f.call(ctx, retireScript, "", &ownerFence{key: f.key("runs"), value: now, err: errRetired}, part).Err(); err != nil {
			return 0, now, err
		}
	}
	present := slices.Concat(list.Groups...)
	for _, one := range former {
		if !slices.Contains(present, one) {
			if err := f.bucket.Delete(ctx, layout.RunKey(f.partition, one.Hash)); err != nil {
				return 0, now, err
			}
		}
	}
	return len(finished), now, nil
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

// finished yields the states in Redis of finished URLs, some at a time. Each time they are sorted, as in a run. An error
// ends the sequence.
func (f *Frontier) finished(ctx context.Context) iter.Seq2[[]run.Record, error] {
	return func(yield func([]run.Record, error) bool) {
		states := make(map[run.URL]string) // if a URL comes twice, its later state counts
		flush := func() bool {
			if len(states) == 0 {
				return true
			}
			records := make([]run.Record, 0, len(states))
			for url, state := range states {
				records = append(records, run.Record{URL: url, State: state})
			}
			clear(states)
			slices.SortFunc(records, func(a, b run.Record) int { return a.Compare(b.URL) })
			return yield(records, nil)
		}
		for some, err := range f.held(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			for id, state := range some {
				if url, is := finishedURL(id, state); is {
					states[url] = state
				}
			}
			if len(states) >= retireAtOnce && !flush() {
				return
			}
		}
		flush()
	}
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
			r, err := run.Open(ctx, f.bucket, layout.RunKey(f.partition, listed.Hash), nil)
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

// holding says how many states Redis holds.
type holding struct {
	all    int64 // number of all states
	final  int64 // number of final states, and of marks of removed URLs
	stayed int64 // how many of these the last Retire has left, such as states of URLs with outdated elements in queues
}

func (f *Frontier) holding(ctx context.Context) (h holding, err error) {
	numbers, err := f.numbers(ctx, "counts", []string{"here", "stayed", "w", "l", "p", "Ws", "Wk", "Wf", "Ls", "Lk", "Lf"})
	if err != nil {
		return h, err
	}
	h = holding{all: numbers[0], final: numbers[0], stayed: numbers[1]}
	for _, pending := range numbers[2:] {
		h.final -= pending
	}
	return h, nil
}

// stay records how many final states Redis holds after Retire.
func (f *Frontier) stay(ctx context.Context) error {
	h, err := f.holding(ctx)
	if err != nil {
		return err
	}
	return f.rdb.HSet(ctx, f.key("counts"), "stayed", h.final).Err()
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
