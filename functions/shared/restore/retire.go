package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/run"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

const (
	usualFinished = 1 << 18 // usual value of Frontiers.Finished
	// retireAtOnce is the number of URLs from which on their states are moved to a run, so that they need little memory.
	retireAtOnce = 1 << 17
)

// Retire moves states of finished URLs from Redis to runs in the bucket, if Redis holds too many (see
// Frontiers.Finished and frontier.Frontier.Retire). A small frontier stays in Redis as a whole. The URLs are those in
// the books of a storage partition, which have the places of URLs; Redis does not.
//
// Not all finished URLs can be moved: of some, Redis still has outdated records in queues, and of those that finished
// last no book has an outcome yet. So that a sweep does not read all books in vain, Redis records how many stay. The
// books are read again only when there are Frontiers.Finished more.
func (f *Frontiers) Retire(ctx context.Context, s *settings.Settings, m *manifest.Manifest) error {
	full := make(map[int]*frontier.Frontier)
	for _, crawl := range s.Crawl.Partitions() {
		front := frontier.New(f.Redis, crawl).WithRuns(f.Bucket).Under(s.Fingerprint())
		finished, err := front.Finished(ctx)
		if err != nil {
			return err
		}
		stayed, err := f.Redis.HGet(ctx, stayedKey(m.Partition), strconv.Itoa(crawl)).Int64()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		if finished-stayed > f.mostFinished() {
			full[crawl] = front
		} else if finished < stayed {
			if err := f.stay(ctx, m.Partition, crawl, front); err != nil {
				return err
			}
		}
	}
	if len(full) == 0 {
		return nil
	}
	err := f.retire(ctx, s, m, full, retireAtOnce)
	if errors.Is(err, frontier.ErrNotBuilt) {
		return nil // the next sweep rebuilds it
	}
	if err != nil {
		return fmt.Errorf("cannot move finished URLs of partition %s from Redis to the bucket: %w", m.Partition, err)
	}
	return nil
}

// retire moves the states of all finished URLs in the books of a storage partition to runs, for some frontiers. It
// gathers at least so many of them as the parameter atOnce says before it moves them. For most URLs in the books are in
// runs already, and each call of frontier.Frontier.Retire makes all calls of other processes begin anew that are
// reading runs.
func (f *Frontiers) retire(ctx context.Context, s *settings.Settings, m *manifest.Manifest, fronts map[int]*frontier.Frontier, atOnce int) error {
	books, err := partition.OpenBooks(ctx, f.Bucket, m.Books)
	if err != nil {
		return err
	}
	seen := make(map[int][]run.URL)  // crawl partition → URLs in the books that InRedis has not seen yet
	found := make(map[int][]run.URL) // crawl partition → URLs to be moved
	look := func(crawl int) error {
		some, err := fronts[crawl].InRedis(ctx, seen[crawl])
		seen[crawl], found[crawl] = seen[crawl][:0], append(found[crawl], some...)
		return err
	}
	move := func(crawl int) error {
		n, err := fronts[crawl].Retire(ctx, found[crawl])
		if n > 0 {
			f.Log.InfoContext(ctx, "moved finished URLs from Redis to the bucket", "crawl", crawl, "urls", n)
		}
		found[crawl] = nil
		return err
	}
	for standing, err := range books.Standings(ctx) {
		if err != nil {
			return err
		}
		if standing.Final == nil {
			continue
		}
		at, err := address.Parse(standing.Final.URL)
		if err != nil {
			return fmt.Errorf("url %q in the books: %w", standing.Final.URL, err)
		}
		crawl, err := s.Crawl.Decide(at)
		if err != nil || fronts[crawl] == nil {
			continue // it is crawled no more, or by another partition
		}
		if seen[crawl] = append(seen[crawl], run.URL{Site: at.Place.Site(), ID: at.ID}); len(seen[crawl]) < atOnce {
			continue
		}
		if err := look(crawl); err != nil {
			return err
		}
		if len(found[crawl]) >= atOnce {
			if err := move(crawl); err != nil {
				return err
			}
		}
	}
	for crawl, front := range fronts {
		if err := look(crawl); err != nil {
			return err
		}
		if err := move(crawl); err != nil {
			return err
		}
		if err := f.stay(ctx, m.Partition, crawl, front); err != nil {
			return err
		}
	}
	return nil
}

// retireLoaded moves the states of URLs that a rebuild has just loaded to a run, if Redis holds too many.
func (f *Frontiers) retireLoaded(ctx context.Context, front *frontier.Frontier, loaded []run.URL) error {
	finished, err := front.Finished(ctx)
	if err == nil && finished > f.mostFinished() {
		_, err = front.Retire(ctx, loaded)
	}
	return err
}

func (f *Frontiers) mostFinished() int64 { return cmp.Or(f.Finished, usualFinished) }

// stayedKey returns the Redis key of a hash: crawl partition → number of finished URLs that Redis held after the last
// search for such URLs in the books of a storage partition.
func stayedKey(storage layout.Partition) string { return "stayed:" + storage.String() }

// stay records how many finished URLs Redis holds.
func (f *Frontiers) stay(ctx context.Context, storage layout.Partition, crawl int, front *frontier.Frontier) error {
	finished, err := front.Finished(ctx)
	if err != nil {
		return err
	}
	return f.Redis.HSet(ctx, stayedKey(storage), strconv.Itoa(crawl), finished).Err()
}
