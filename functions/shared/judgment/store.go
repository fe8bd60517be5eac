package judgment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// parallelReads is the number of objects that are read at the same time.
const parallelReads = 16

// Put stores a sheet. Storing the same sheet again changes nothing.
func Put(ctx context.Context, bucket blob.Bucket, s Sheet) error {
	key, content, err := s.Encode()
	if err != nil {
		return err
	}
	if err := blob.CreateOnce(ctx, bucket, key, content); err != nil {
		return fmt.Errorf("cannot store judgments %s: %w", key, err)
	}
	return nil
}

// Judged is a judged query, with the latest mark of each judge for each URL.
type Judged struct {
	Query  Query
	judges map[string]map[string]dated // latest mark of each judge for each URL: judges[judge][URL]
}

// dated is a judge's grade for a URL, with the time and the key of the sheet (the stored object)
// that has it. Of two grades, the one with the later time is valid; at equal times, the one whose
// key comes last in the order of bytes.
type dated struct {
	grade int
	at    time.Time
	key   string
}

func (d dated) compare(other dated) int {
	return cmp.Or(d.at.Compare(other.at), strings.Compare(d.key, other.key))
}

// add adds to j the marks of a sheet that is stored under the given key. Of several marks of a
// judge for the same URL, j holds the latest.
func (j *Judged) add(key string, s Sheet) {
	if j.judges == nil {
		j.judges = make(map[string]map[string]dated)
	}
	if j.judges[s.Judge] == nil {
		j.judges[s.Judge] = make(map[string]dated)
	}
	marks := j.judges[s.Judge]
	for _, m := range s.Marks {
		now := dated{m.Grade, s.At, key}
		if known, found := marks[m.URL]; !found || now.compare(known) > 0 {
			marks[m.URL] = now
		}
	}
}

// By returns the grades that a judge gave, by URL.
func (j *Judged) By(judge string) map[string]int {
	grades := make(map[string]int)
	for url, m := range j.judges[judge] {
		if m.grade != Withdrawn {
			grades[url] = m.grade
		}
	}
	return grades
}

// Grades returns the grade of each URL: the mean of the grades that judges gave it, rounded to a
// whole grade (1.5 becomes 2).
func (j *Judged) Grades() map[string]int {
	sums, judges := make(map[string]int), make(map[string]int)
	for name := range j.judges {
		for url, grade := range j.By(name) {
			sums[url] += grade
			judges[url]++
		}
	}
	for url, n := range judges {
		sums[url] = (2*sums[url] + n) / (2 * n)
	}
	return sums
}

// Of returns the judgments on one query, without URLs that a takedown forgets. It takes one LIST,
// and one GET for each sheet (object with a judge's grades). The result unread has an error for each
// sheet that is damaged, or that only a newer version of the program can read.
func Of(ctx context.Context, bucket blob.Reader, q Query, forgotten *takedown.Set) (judged Judged, unread []error, err error) {
	if !encodable(q.After) || !encodable(q.Before) {
		return Judged{}, nil, errTime
	}
	judged = Judged{Query: q.canonical()}
	unread, err = sheets(ctx, bucket, layout.JudgmentPrefix(q.Hash()), func(key string, s Sheet) {
		s, _ = s.Forget(forgotten)
		judged.add(key, s)
	})
	return judged, unread, err
}

// All returns the judgments on all queries, in the order of the queries' texts, without URLs that a
// takedown forgets. The result unread has an error for each sheet (object with a judge's grades)
// that is damaged, or that only a newer version of the program can read.
func All(ctx context.Context, bucket blob.Reader, forgotten *takedown.Set) (all []*Judged, unread []error, err error) {
	known := make(map[string]*Judged)
	unread, err = sheets(ctx, bucket, layout.Judgments, func(key string, s Sheet) {
		if s, _ = s.Forget(forgotten); len(s.Marks) == 0 {
			return
		}
		hash := s.Query.Hash()
		if known[hash] == nil {
			known[hash] = &Judged{Query: s.Query}
			all = append(all, known[hash])
		}
		known[hash].add(key, s)
	})
	slices.SortFunc(all, func(a, b *Judged) int { return a.Query.compare(b.Query) })
	return all, unread, err
}

// compare compares two queries by their texts, then by their hashes.
func (q Query) compare(other Query) int {
	return cmp.Or(strings.Compare(q.Text, other.Text), strings.Compare(q.Hash(), other.Hash()))
}

// keysBelow returns all keys that begin with a prefix, without those of objects that this program
// has not made (see layout.IsForeign).
func keysBelow(ctx context.Context, bucket blob.Reader, prefix string) (keys []string, err error) {
	listed, err := blob.List(ctx, bucket, prefix)
	for _, object := range listed {
		if !layout.IsForeign(object.Key) {
			keys = append(keys, object.Key)
		}
	}
	return keys, err
}

// sheets reads every sheet (a judge's grades for one query) whose key begins with the prefix, and
// calls the given function with the key and the sheet. The result unread has an error for each sheet
// that cannot be read (see each).
func sheets(ctx context.Context, bucket blob.Reader, prefix string, do func(key string, s Sheet)) (unread []error, err error) {
	keys, err := keysBelow(ctx, bucket, prefix)
	if err != nil {
		return nil, err
	}
	return each(ctx, bucket, keys, Decode, do)
}

// each reads and decodes the objects with the given keys. The first function that it is given decodes
// an object. The second is called with each decoded object, in the order of the keys. Objects that
// have been deleted are left out. The result unread has an error for each object that is damaged, or
// that only a newer version of the program can read.
func each[T any](ctx context.Context, bucket blob.Reader, keys []string, read func(key string, content []byte) (T, error), do func(key string, t T)) (unread []error, err error) {
	type result struct {
		found bool
		value T
		err   error
	}
	results := make([]result, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for i, key := range keys {
		group.Go(func() error {
			content, found, err := blob.Find(ctx, bucket, key)
			if found {
				value, err := read(key, content)
				results[i] = result{true, value, err}
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, key := range keys {
		switch r := results[i]; {
		case r.err != nil:
			unread = append(unread, fmt.Errorf("%s: %w", key, r.err))
		case r.found: // else it was erased since it was listed
			do(key, r.value)
		}
	}
	return unread, nil
}
