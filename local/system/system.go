// Package system runs the whole search engine on one machine: object store,
// Redis, queues and functions in one process tree.
package system

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/local/datadir"
	"github.com/bucketsearch/bucketsearch/local/queue"
	"github.com/bucketsearch/bucketsearch/local/redis"
	"github.com/bucketsearch/bucketsearch/local/s3"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// settingsAge is the time after which settings are read again.
const settingsAge = 10 * time.Second

// Options are the settings of a system.
type Options struct {
	Data         string   // data directory
	S3           string   // URL of a bucket elsewhere; empty: the embedded store
	Redis        string   // URL of a Redis elsewhere; empty: one of our own
	Self         []string // command that serves the embedded store, and its arguments
	Partitions   int      // of a new bucket
	Agent        string
	AllowPrivate bool
	Functions    string       // directory of Lambda binaries, each a process of its own; empty: in process
	Chaos        *queue.Chaos // nil for deliveries in order, once
	Getenv       func(string) string
}

// System is an open system. Run starts its functions.
type System struct {
	Bucket   blob.Bucket
	Redis    goredis.UniversalClient
	Settings *settings.Cache
	Log      *slog.Logger

	options  Options
	dir      *datadir.Dir
	store    *store
	redis    *redis.Server // nil when it is not ours
	redisURL string
	queues   queue.Set
	worker   string // names this process and no other
	vitals   *vitals.Recorder
	earlier  countblob.Counts        // requests of earlier runs
	room     func() (int64, error)   // on the disk of the embedded store
	health   context.Context         // ends when the system cannot go on
	fail     context.CancelCauseFunc // ends it
	stop     func()                  // ends what Run began
	logFile  *os.File
	failures failures

	mu            sync.Mutex          // protects what follows
	manifests     []manifest.Manifest // for Progress
	manifestsRead time.Time
	fault         error // for which a manifest could not be read then
}

// Open takes the data directory, starts the object store and Redis, and publishes the first
// strategies in a new bucket.
func Open(ctx context.Context, options Options) (_ *System, err error) {
	dir, err := datadir.Lock(ctx, options.Data)
	if err != nil {
		return nil, err
	}
	s := &System{options: options, dir: dir, room: dir.Room, stop: func() {}}
	s.worker = fmt.Sprintf("local/%d-%08x", os.Getpid(), rand.Uint32())
	s.vitals = vitals.New(vitals.Options{Worker: s.worker, Now: time.Now})
	s.queues = newQueues(options.Chaos, func(d message.DeadLetter) { s.deadLetters().Store(context.Background(), d) })
	s.health, s.fail = context.WithCancelCause(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.logFile, err = dir.OpenLog(); err != nil {
		return nil, err
	}
	s.Log = slog.New(slog.NewJSONHandler(s.logFile, nil))
	if s.earlier, err = datadir.ReadRequests(options.Data); err != nil {
		s.Log.Warn("requests", "error", err)
	}
	if err := s.checkRoom(ctx); err != nil {
		return nil, err
	}
	if s.store, err = openStore(ctx, options, dir, s3.Events{Stored: s.raise, Restarted: s.restarted("object store")}, s.vitals.Traffic()); err != nil {
		return nil, err
	}
	s.Bucket = s.bucket("system")
	if err := s.openRedis(ctx); err != nil {
		return nil, err
	}
	if err := s.publishStrategies(ctx); err != nil {
		return nil, s.store.explain(err)
	}
	if err := s.claimRedis(ctx); err != nil {
		return nil, err
	}
	s.Settings = &settings.Cache{Bucket: s.bucket("system"), Now: time.Now, Age: settingsAge}
	return s, nil
}

// publishStrategies publishes version 1 of both strategies in a new bucket.
func (s *System) publishStrategies(ctx context.Context) error {
	if err := strategiesLost(ctx, s.Bucket); err != nil {
		return err
	}
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		known, err := rules.Load(ctx, s.Bucket, kind)
		if has := len(known.Partitions()); err == nil && s.options.Partitions > 1 && s.options.Partitions != has {
			return fmt.Errorf("--partitions %d is for a new bucket, and this one has %d; to divide it: bucketsearch strategy share %s %d", s.options.Partitions, has, kind, s.options.Partitions)
		}
		if errors.Is(err, blob.ErrAbsent) {
			err = rules.Publish(ctx, s.Bucket, rules.Even(kind, max(1, s.options.Partitions), time.Now()))
		}
		if err != nil && !errors.Is(err, blob.ErrExists) { // another program was first
			return fmt.Errorf("cannot publish %s strategy: %w", kind, err)
		}
	}
	return nil
}

// strategiesLost returns an error for a bucket with manifests and without a strategy: new
// strategies might divide the bucket in another way.
func strategiesLost(ctx context.Context, bucket blob.Reader) error {
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		if _, err := rules.Load(ctx, bucket, kind); !errors.Is(err, blob.ErrAbsent) {
			continue
		}
		for _, err := range bucket.List(ctx, layout.Manifests, "") {
			if err != nil {
				return fmt.Errorf("cannot list manifests: %w", err)
			}
			return fmt.Errorf("the bucket holds manifests, but its %s strategy is missing; run `bucketsearch verify --repair`, or put %s back", kind, layout.StrategyKey(string(kind), 1))
		}
	}
	return nil
}

// Publish tells other commands where the system serves.
func (s *System) Publish(http string) error {
	return s.dir.Publish(datadir.Running{
		PID: os.Getpid(), S3: s.store.url, Embedded: s.store.server != nil, Redis: s.redisURL, HTTP: http,
	})
}

// Requests returns the object-store requests of this run and of earlier ones, without those
// of isolated functions, which are processes of their own, and of programs that only
// read.
func (s *System) Requests() countblob.Counts {
	return s.earlier.Plus(s.store.counting.Counts())
}

// Close stops everything that Open and Run started, and releases the data directory.
// Nothing is lost.
func (s *System) Close() error {
	s.stop()
	var errs []error
	if s.Redis != nil {
		errs = append(errs, s.Redis.Close())
	}
	if s.redis != nil {
		s.redis.Close()
	}
	if s.store != nil {
		if err := s.feedBack(context.Background()); err != nil {
			s.Log.Warn("feedback", "error", err)
		}
		if err := s.dir.KeepRequests(s.Requests()); err != nil {
			s.Log.Warn("requests", "error", err)
		}
		s.store.close()
	}
	if s.logFile != nil {
		errs = append(errs, s.logFile.Close())
	}
	return errors.Join(append(errs, s.dir.Close())...)
}
