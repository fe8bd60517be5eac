package frontier

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/run"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// readAtOnce is the greatest number of runs that are read at the same time.
const readAtOnce = 8

// runList is the value of the key runs, as JSON: the runs with the states of finished URLs that Redis does not hold.
type runList struct {
	// Name is random, so that no two lists are equal by chance: a call that was prepared by one list must
	// not take effect under another.
	Name string `json:"name"`
	// Groups are sorted sequences of runs: each run has only URLs that come after those of the run before it. A URL
	// may be in several groups; then its state in the last of them counts.
	Groups [][]listedRun `json:"groups"`
}

// listedRun is an entry of a runList.
type listedRun struct {
	Hash  string `json:"hash"` // content hash, which is in the key of the object (see layout.RunKey)
	First bound  `json:"first"`
	Last  bound  `json:"last"`
	URLs  int    `json:"urls"` // number of URLs
}

// bound is the first or the last URL of a run. As text it is hexadecimal.
type bound struct{ run.URL }

// MarshalText returns the site hash and the identity in hexadecimal digits.
func (b bound) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%08x%s", b.Site, b.ID), nil }

// UnmarshalText parses the digits that MarshalText returns.
func (b *bound) UnmarshalText(text []byte) error {
	if len(text) < 8 {
		return fmt.Errorf("bound %q of a run: want a site hash and an identity", text)
	}
	if _, err := fmt.Sscanf(string(text[:8]), "%08x", &b.Site); err != nil {
		return fmt.Errorf("bound %q of a run: %w", text, err)
	}
	return b.ID.UnmarshalText(text[8:])
}

// errRuns means that a call was prepared by another list of runs than Redis has.
var errRuns = errors.New("the list of runs has changed")

// over runs a script that needs the states of URLs, which may be in runs. Most often Redis has the states, and the
// script runs at once. If Redis has no state of some URLs, and there are runs, the script changes nothing and
// answers with the identities of these URLs. Then over looks them up in the runs, and runs the script again, with what
// it has found. A fence makes sure that Redis still has the same list of runs: Retire moves states to a run only after
// it has changed this list. So no state is overlooked.
//
// The function urls returns all URLs whose states the script needs. It is called only if some are looked up, with the
// list of runs.
//
// If a run is lost, the frontier must be rebuilt: over calls Distrust, and the reply has ErrNotBuilt.
func (f *Frontier) over(ctx context.Context, urls func(list string) ([]run.URL, error), s *redis.Script, args ...any) *redis.Cmd {
	failed := func(err error) *redis.Cmd {
		reply := redis.NewCmd(ctx)
		reply.SetErr(err)
		return reply
	}
	list, states := f.lastList(), make(map[layout.Identity]string)
	for {
		reply := f.call(ctx, s, encodeStates(states), &ownerFence{key: f.key("runs"), value: list, err: errRuns}, args)
		err := reply.Err()
		unknown := idsOfRecall(reply)
		if err == nil && len(unknown) == 0 {
			return reply
		}
		if err == nil {
			if err = f.recall(ctx, list, unknown, urls, states); err == nil {
				continue
			}
		}
		switch {
		case errors.Is(err, errRuns):
			_, err = f.readList(ctx)
		case isLost(err):
			err = f.loseRun(ctx, list, err)
		}
		if err != nil {
			return failed(err)
		}
		list = f.lastList()
		clear(states) // they are those of another list
	}
}

// lastList returns the list of runs as Redis had it at the last call; "" if none is known. Other goroutines may change
// it at any time.
func (f *Frontier) lastList() string {
	if known := f.runs.Load(); known != nil {
		return *known
	}
	return ""
}

// isLost reports whether an error says that a run is absent or damaged.
func isLost(err error) bool { return errors.Is(err, blob.ErrAbsent) || errors.Is(err, run.ErrDamaged) }

// loseRun must be called if a run of a list is absent or damaged. It returns nil if Redis has another list by now: the
// run was merged with others, and deleted. Otherwise it makes the frontier count as not built, and returns an error
// that wraps ErrNotBuilt.
func (f *Frontier) loseRun(ctx context.Context, list string, lost error) error {
	now, err := f.readList(ctx)
	if err != nil || now != list {
		return err
	}
	return errors.Join(fmt.Errorf("%w: it has lost a run: %w", ErrNotBuilt, lost), f.Distrust(ctx))
}

// idsOfRecall returns the identities in the answer of a script that needs the states of URLs in runs; none for any
// other answer (see the function unknown of the scripts).
func idsOfRecall(reply *redis.Cmd) map[layout.Identity]bool {
	items, _ := reply.Val().([]any)
	if len(items) < 2 || items[0] != "recall" {
		return nil
	}
	ids := make(map[layout.Identity]bool, len(items))
	for _, item := range items[1:] {
		if id, _ := item.(string); len(id) == idBytes {
			ids[layout.Identity([]byte(id))] = true
		}
	}
	return ids
}

// readList reads the list of runs from Redis, for the next calls of over; "" if there is none.
func (f *Frontier) readList(ctx context.Context) (string, error) {
	list, err := f.rdb.Get(ctx, f.key("runs")).Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	if err == nil {
		f.runs.Store(&list)
	}
	return list, err
}

// parseList returns a list of runs from its text; an empty list for "".
func parseList(text string) (list runList, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &list)
	}
	if err != nil {
		err = fmt.Errorf("%w: its list of runs cannot be read: %w", ErrNotBuilt, err)
	}
	return list, err
}

// recall looks up URLs in the runs of a list, and adds their states to a map: "" for a URL that no run has. The URLs
// are those with the given identities among those that the function urls returns.
func (f *Frontier) recall(ctx context.Context, text string, ids map[layout.Identity]bool, urls func(list string) ([]run.URL, error), states map[layout.Identity]string) error {
	if f.bucket == nil {
		return errors.New("it has runs, and no bucket is given to read them")
	}
	list, err := parseList(text)
	if err != nil {
		return err
	}
	all, err := urls(text)
	if err != nil {
		return err
	}
	wanted := slices.DeleteFunc(slices.Clone(all), func(u run.URL) bool { return !ids[u.ID] })
	slices.SortFunc(wanted, run.URL.Compare)
	wanted = slices.Compact(wanted)
	for id := range ids {
		states[id] = ""
	}
	found, err := f.find(ctx, slices.Concat(list.Groups...), wanted)
	maps.Copy(states, found)
	return err
}

// find returns the states of those of the given URLs, which are sorted, that some runs have. Of a URL that is in
// several runs, the state in the last of them counts.
func (f *Frontier) find(ctx context.Context, runs []listedRun, wanted []run.URL) (map[layout.Identity]string, error) {
	found := make([][]run.Record, len(runs))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(readAtOnce)
	for i, listed := range runs {
		from, _ := slices.BinarySearchFunc(wanted, listed.First.URL, run.URL.Compare)
		to, last := slices.BinarySearchFunc(wanted, listed.Last.URL, run.URL.Compare)
		if last {
			to++
		}
		if from >= to {
			continue
		}
		group.Go(func() error {
			r, err := f.cache.open(within, f.bucket, layout.RunKey(f.partition, listed.Hash))
			if err == nil {
				found[i], err = r.Find(within, wanted[from:to])
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	states := make(map[layout.Identity]string)
	for _, record := range slices.Concat(found...) {
		states[record.ID] = record.State
	}
	return states, nil
}

// encodeStates encodes states for the scripts, as keys.lua describes.
func encodeStates(states map[layout.Identity]string) string {
	var b []byte
	for id, state := range states {
		b = append(b, id[:]...)
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(state))), state...)
	}
	return string(b)
}

// always returns a function for over that returns these URLs.
func always(urls []run.URL) func(string) ([]run.URL, error) {
	return func(string) ([]run.URL, error) { return urls, nil }
}

// urlsOf returns the names in runs of the URLs of some items.
func urlsOf[T any](items []T, text func(T) string) ([]run.URL, error) {
	urls := make([]run.URL, len(items))
	for i, item := range items {
		at, err := address.Parse(text(item))
		if err != nil {
			return nil, err
		}
		urls[i] = run.URL{Site: at.Place.Site(), ID: at.ID}
	}
	return urls, nil
}

// named returns the name in runs of the URL with this place and identity.
func named(place layout.Place, id layout.Identity) (run.URL, error) {
	if uint32(place) != binary.BigEndian.Uint32(id[:4]) {
		return run.URL{}, fmt.Errorf("%s is not at the place %016x", id, uint64(place))
	}
	return run.URL{Site: place.Site(), ID: id}, nil
}

// sizeOf returns the number of URLs in the runs of a group.
func sizeOf(group []listedRun) (urls int) {
	for _, one := range group {
		urls += one.URLs
	}
	return urls
}
