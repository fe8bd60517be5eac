// Package system runs the whole search engine on one machine: object store, Redis, queues and functions in one
// process tree. It also opens buckets for commands that only read or control.
//
//	type       returned by     is for
//	System     Open            up and crawl: it runs all functions, and serves the search page
//	Importer   OpenImporter    import: it runs the functions that do not request pages
//	Attached   Attach          all commands that read or control a bucket, such as status and forget
//	Searcher   NewSearcher     query: it serves the search page alone, from a bucket elsewhere
//	Worker     OpenWorker      work: it runs functions on a bucket elsewhere, without a data directory
//
// Begin with System. A command calls Open (system.go), Plan (plan.go), Run (run.go), Wait (wait.go) and Close.
// The functions are made in functions.go, and their events in event.go. The servers are in store.go and redis.go.
package system

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
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

// settingsAge is the maximum age of the settings of a System. Older ones are read again.
const settingsAge = 10 * time.Second

// Options are the settings of a system.
type Options struct {
	Data         string   // path of the data directory
	S3           string   // URL of a remote bucket; empty: the embedded store
	Redis        string   // URL of a remote Redis; empty: the system starts one
	Self         []string // command that serves the embedded store: path of this program, and arguments
	Partitions   int      // number of partitions of a new bucket; below 1: 1
	Create       bool     // whether Attach makes the bucket if there is none; Open always does
	Agent        string   // User-Agent of the crawler
	AllowPrivate bool     // whether addresses that are not public may be requested
	// directory of the Lambda binaries that run the functions; empty: this process runs them
	Functions string
	Chaos     *queue.Chaos        // disturbs deliveries in tests; nil: no disturbance
	Getenv    func(string) string // function that returns environment variables, like os.Getenv
}

// System is the search engine on one machine. Open starts its servers, Run its functions.
type System struct {
	Bucket   blob.Bucket
	Redis    goredis.UniversalClient
	Settings *settings.Cache
	Log      *slog.Logger

	options  Options
	dir      *datadir.Dir
	store    *store
	redis    *redis.Server // Redis that the system has started; nil if Redis is remote
	redisURL string
	queues   queue.Set
	leases   *leases
	worker   string // name of this process in its leases
	vitals   *vitals.Recorder
	earlier  countblob.Counts        // counts of the requests of earlier runs
	room     func() (int64, error)   // function that returns the free bytes on the disk of the data directory
	health   context.Context         // context that ends when the system cannot go on
	fail     context.CancelCauseFunc // ends the context health; its argument says why the system cannot go on
	stop     func()                  // function that stops everything that Run started
	logFile  *os.File
	failures failures
	fetches  fetches
	latest   atomic.Pointer[Progress] // last progress that Wait has read; nil while Wait does not run

	mu            sync.Mutex          // protects the fields below
	manifests     []manifest.Manifest // manifests that Progress read last
	manifestsRead time.Time           // time at which Progress read the manifests
	// error of a lost or damaged manifest that Progress met when it last read all manifests; nil if it
	// met none
	fault error
}

// Open locks the data directory, starts or connects to the object store and Redis, and
// publishes the first strategies (rules that divide URLs among partitions) in a new bucket.
func Open(ctx context.Context, options Options) (_ *System, err error) {
	dir, err := datadir.Lock(ctx, options.Data)
	if err != nil {
		return nil, err
	}
	s := &System{options: options, dir: dir, room: dir.Room, stop: func() {}}
	s.worker = processName()
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
	if s.store, err = openStore(ctx, options, dir, s3.Events{Stored: raiser(s.queues, s.Log), Restarted: s.restarted("object store")}, s.vitals.Traffic()); err != nil {
		return nil, err
	}
	s.Bucket = s.bucket("system")
	if err := s.openRedis(ctx); err != nil {
		return nil, err
	}
	s.leases = newLeases(s.Redis, s.worker, s.queues[task.Fetch], s.log(task.Fetch))
	if _, err := publishStrategies(ctx, s.Bucket, options.Partitions); err != nil {
		return nil, s.store.explain(err)
	}
	if err := s.store.checkCreate(ctx); err != nil {
		return nil, err
	}
	if options.Redis != "" {
		if err := claimRedis(ctx, s.Bucket, s.Redis); err != nil {
			return nil, err
		}
	}
	s.Settings = &settings.Cache{Bucket: s.bucket("system"), Now: time.Now, Age: settingsAge}
	return s, nil
}

// LostStrategy is the error that a bucket has manifests but no crawl or storage strategy.
type LostStrategy struct{ error }

// Unwrap returns the error itself.
func (l LostStrategy) Unwrap() error { return l.error }

// readInForce returns the settings in force, as their documents say; the hint of the settings is not read. If
// the bucket has lost a strategy, the error says so.
func readInForce(ctx context.Context, bucket blob.Reader) (*settings.Settings, error) {
	inForce, err := settings.Read(ctx, bucket, time.Now())
	if errors.Is(err, blob.ErrAbsent) {
		if lost := strategiesLost(ctx, bucket); lost != nil {
			return nil, lost
		}
	}
	return inForce, err
}

// strategiesLost returns an error if a bucket has manifests but lacks the crawl strategy or
// the storage strategy. A new one must not be published then: it might divide the URLs
// differently.
func strategiesLost(ctx context.Context, bucket blob.Reader) error {
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		if _, err := rules.Load(ctx, bucket, kind); !errors.Is(err, blob.ErrAbsent) {
			continue
		}
		for _, err := range bucket.List(ctx, layout.Manifests, "") {
			if err != nil {
				return fmt.Errorf("cannot list manifests: %w", err)
			}
			return LostStrategy{fmt.Errorf("the bucket holds manifests, but its %s strategy is missing; run `bucketsearch verify --repair`, or put %s back", kind, layout.StrategyKey(string(kind), 1))}
		}
	}
	return nil
}

// Publish writes the URLs of the system's servers to the data directory, where other commands find
// them. The parameter http is the URL of the search page, "" if there is none.
func (s *System) Publish(http string) error {
	return s.dir.Publish(datadir.Running{
		PID: os.Getpid(), S3: s.store.url, Embedded: s.store.server != nil, Redis: s.redisURL, HTTP: http,
	})
}

// Requests returns the counts of the requests to the object store in this run and earlier
// ones. Requests of other processes (isolated functions and other commands) are not
// counted.
func (s *System) Requests() countblob.Counts {
	return s.earlier.Plus(s.store.counting.Counts())
}

// processName returns a name for this process that no other process has, on this machine or another.
func processName() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%d-%08x", host, os.Getpid(), rand.Uint32()) // in containers, all processes have the number 1
}

// Close stops everything that Open and Run started, and releases the data directory. Work
// that is not done yet is done at the next run.
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
