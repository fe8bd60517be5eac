package system

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/environment"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/redis"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// openRedis connects to the Redis of Options.Redis or, if that is empty, starts one.
func (s *System) openRedis(ctx context.Context) (err error) {
	if s.redisURL = s.options.Redis; s.redisURL == "" {
		if s.redis, err = redis.Start(ctx, redis.Options{Dir: s.options.Data, Restarted: s.redisRestarted}); err != nil {
			return err
		}
		s.redisURL = s.redis.URL
	}
	if s.Redis, err = dialRedis(ctx, s.redisURL, s.vitals.Traffic()); err != nil {
		return err
	}
	return s.tellRedis(ctx)
}

// dialRedis connects to the Redis at an address (see environment.OpenRedis) and checks that it answers. The bytes sent and received
// are added to the given Traffic, whose counts are part of the vital signs.
func dialRedis(ctx context.Context, address string, traffic *vitals.Traffic) (goredis.UniversalClient, error) {
	client, err := environment.OpenRedis(address, traffic)
	if err != nil {
		return nil, WrongOption{environment.WrongRedis("--redis or BUCKETSEARCH_REDIS", address)}
	}
	if err := client.Ping(ctx).Err(); err != nil {
		at, _ := url.Parse(address) // without the password
		err = fmt.Errorf("redis at %s cannot be used; is it running, and is --redis or BUCKETSEARCH_REDIS right? %w", cmp.Or(at.Host, at.Path), err)
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

// claimRedis writes the bucket's mark into a remote Redis. It fails if Redis has the mark of
// another bucket, because the frontiers of both buckets would be mixed up. The mark is the hash
// of the bucket's first storage strategy, which differs between buckets because it contains the
// time of creation. If the bucket has no strategy yet, the error wraps blob.ErrAbsent.
func claimRedis(ctx context.Context, bucket blob.Reader, rdb goredis.UniversalClient) error {
	first, err := bucket.Get(ctx, layout.StrategyKey(string(rules.Storage), 1), blob.Range{})
	if err != nil {
		return fmt.Errorf("cannot tell which bucket this is: %w", err)
	}
	sum := sha256.Sum256(first)
	mark := hex.EncodeToString(sum[:16])
	const key = "bucketsearch:bucket"
	holds, err := rdb.Get(ctx, key).Result()
	if errors.Is(err, goredis.Nil) { // it is written only then: a full Redis refuses to write, but can be read
		if err = rdb.SetNX(ctx, key, mark, 0).Err(); err == nil {
			holds, err = rdb.Get(ctx, key).Result()
		}
	}
	if err != nil {
		return fmt.Errorf("cannot claim redis: %w", err)
	}
	if holds != mark {
		return errors.New("the Redis of --redis or BUCKETSEARCH_REDIS holds the frontier of another bucket; choose another of its databases, such as redis://127.0.0.1:6379/1, or flush this one, which loses nothing but time")
	}
	return nil
}

// tellRedis writes the leases of all batches that wait in the queue of fetch to a Redis that has
// started empty. An empty Redis has lost the leases, so each host may have a batch that is still
// being fetched. Without tellRedis, every host would have to wait as long as a lease lasts. With
// it, only the hosts of the batches in the queue wait. If both Redis and bucket are remote,
// tellRedis does nothing: other systems may have leased batches that this queue lacks.
func (s *System) tellRedis(ctx context.Context) error {
	if s.options.Redis != "" && s.options.S3 != "" {
		return nil
	}
	out := make(map[int][]frontier.Held)
	for _, b := range batchesIn(s.queues[task.Fetch]) {
		if b.Deadline.After(time.Now()) {
			out[b.Crawl] = append(out[b.Crawl], frontier.Held{Version: b.Version, Host: b.Host, Deadline: b.Deadline})
		}
	}
	return frontier.Tell(ctx, s.Redis, out)
}

// redisRestarted is called when Redis has ended, for the given reason, and was started again. It
// tells the new, empty Redis about the leases of all batches in the queue of fetch, and starts a
// sweep, which rebuilds the frontiers.
func (s *System) redisRestarted(why error) {
	if err := s.tellRedis(context.Background()); err != nil {
		s.Log.Warn("hosts wait for batches that may be out", "error", err)
	}
	s.restarted("redis")(why)
}
