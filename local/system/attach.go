package system

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/restore"
	"github.com/bucketsearch/bucketsearch/functions/sweep"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/datadir"
	"github.com/bucketsearch/bucketsearch/local/s3"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// ErrEmpty means that there is no bucket, or that nothing was ever crawled into it.
var ErrEmpty = errors.New("nothing has been crawled yet")

// attachedAge is the maximum age of the settings of an Attached. Older ones are read again.
const attachedAge = time.Minute

// Attached is a bucket opened for a command that reads or controls it. A System of another
// process may be running on the bucket.
type Attached struct {
	Bucket   blob.Bucket
	Settings *settings.Cache
	Redis    goredis.UniversalClient // connection to the Redis of Options.Redis, or of the running system; nil if there is none

	store *store
	dir   *datadir.Dir
}

// Attach opens a bucket. If Options.S3 is set, this is the remote bucket at that URL. Otherwise it is
// the bucket in the data directory. If a system runs in the directory, Attach uses the object store
// of that system. If none runs there, Attach starts an embedded object store.
//
// A directory that cannot be written is opened read-only. Attach fails with ErrEmpty if the
// data directory has no bucket, unless Options.Create is set. It accepts an empty bucket, which only
// Check rejects.
func Attach(ctx context.Context, o Options) (_ *Attached, err error) {
	a := new(Attached)
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if o.S3 != "" {
		err = a.connect(ctx, o)
	} else {
		err = a.open(ctx, o, false)
	}
	if err != nil {
		return nil, err
	}
	a.Bucket = a.store.bucket
	if a.dir != nil && a.dir.ReadOnly() != nil {
		a.Bucket = readOnly{a.store.bucket, a.dir.ReadOnly()}
	}
	a.Settings = &settings.Cache{Bucket: a.Bucket, Now: time.Now, Age: attachedAge}
	return a, nil
}

// Check fails with ErrEmpty when the bucket holds nothing, and with another error when
// the settings of the crawl cannot be read.
func (a *Attached) Check(ctx context.Context) error {
	_, err := a.Settings.Get(ctx)
	if !errors.Is(err, blob.ErrAbsent) {
		return a.store.explain(err)
	}
	if err := strategiesLost(ctx, a.Bucket); err != nil {
		return err
	}
	return fmt.Errorf("%w into %s", ErrEmpty, a.store.url)
}

// connect opens the remote bucket of o.S3, and connects to the Redis of o.Redis. If that is empty, and a
// system that runs in the data directory uses the bucket, it connects to the Redis of this system.
func (a *Attached) connect(ctx context.Context, o Options) (err error) {
	remote, opened, err := connect(o.S3, o.Getenv, nil, nil)
	if err != nil {
		return err
	}
	a.store = remote
	if o.Create {
		if err := opened.Ensure(ctx); err != nil {
			return remote.explain(err)
		}
	}
	if o.Redis != "" {
		if a.Redis, err = dialRedis(ctx, o.Redis, nil); err != nil {
			return err
		}
		if err = claimRedis(ctx, a.store.bucket, a.Redis); errors.Is(err, blob.ErrAbsent) {
			return nil // the bucket is empty, which Check finds
		}
		return err
	}
	running, err := datadir.ReadRunning(o.Data)
	if err != nil || running.S3 != o.S3 {
		return nil
	}
	if client, err := dialRedis(ctx, running.Redis, nil); err == nil { // otherwise the system was killed, and its Redis with it
		a.Redis = client
	}
	return nil
}

// open opens the bucket of the data directory. If a system runs there, it connects to the
// object store of the system; otherwise it starts an embedded one. If a system is just starting, open tries
// again: what said how to connect was left by a system that was killed, and has been deleted. The parameter
// again says that this is the second attempt.
func (a *Attached) open(ctx context.Context, o Options, again bool) (err error) {
	a.dir, err = datadir.Share(ctx, o.Data)
	if o.Create && errors.Is(err, fs.ErrNotExist) {
		a.dir, err = datadir.Lock(ctx, o.Data)
	}
	switch {
	case err == nil:
		a.store, err = startStore(ctx, o, a.dir, s3.Events{Stored: func(string, int64) {}}, nil)
	case errors.Is(err, datadir.ErrInUse):
		if err = a.join(ctx, o, err); errors.Is(err, datadir.ErrInUse) && !again {
			return a.open(ctx, o, true)
		}
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w into %s", ErrEmpty, o.Data)
	}
	return err
}

// join connects to the bucket and the Redis of the system that runs in the data directory. The
// caller could not lock the directory, and passes the error of this attempt as inUse. While the
// system is starting or stopping, the directory does not say how to connect, and join returns inUse.
// If Redis cannot be reached, a.Redis stays nil.
func (a *Attached) join(ctx context.Context, o Options, inUse error) error {
	running, err := datadir.ReadRunning(o.Data)
	if err != nil { // the system does not serve yet, or has stopped serving
		return inUse
	}
	getenv := o.Getenv
	if running.Embedded {
		secret, err := datadir.ReadSecret(o.Data)
		if err != nil {
			return err
		}
		getenv = Credentials(secret)
	}
	if a.store, _, err = connect(running.S3, getenv, nil, nil); err != nil {
		return err
	}
	if client, err := dialRedis(ctx, running.Redis, nil); err == nil { // otherwise Redis is being started again
		a.Redis = client
	}
	return nil
}

// Close closes the connections, and stops the embedded store that Attach has started.
func (a *Attached) Close() error {
	var errs []error
	if a.Redis != nil {
		errs = append(errs, a.Redis.Close())
	}
	if a.store != nil {
		a.store.close()
	}
	if a.dir != nil {
		errs = append(errs, a.dir.Close())
	}
	return errors.Join(errs...)
}

// Rebuild rebuilds the frontiers (the queues of known URLs) in the Redis of the running system
// from the bucket, and returns the number of their URLs. a.Redis must not be nil.
func (a *Attached) Rebuild(ctx context.Context) (restore.Rebuilt, error) {
	fronts := &restore.Frontiers{Bucket: a.Bucket, Redis: a.Redis, Now: time.Now, Worker: commandWorker("rebuild"), Log: slog.New(slog.DiscardHandler)}
	return fronts.Rebuild(ctx)
}

// Reindex marks packages as not indexed and returns their number. If the parameter all is false, it
// marks only packages whose segments were built by another version of an analyzer. The next sweep
// of a running system has the marked packages indexed anew.
func (a *Attached) Reindex(ctx context.Context, all bool) (packages int, err error) {
	version := analysis.Version
	if all {
		version = nil
	}
	return a.sweep("reindex").Reindex(ctx, version)
}

// sweep returns the function sweep, for use in the process of the named command. The messages of this
// sweep to other functions are dropped, because the sweep of the running system sends the same ones.
func (a *Attached) sweep(command string) *sweep.Function {
	return &sweep.Function{
		Bucket: a.Bucket, Redis: a.Redis, Sender: nowhere{}, Now: time.Now, Worker: commandWorker(command),
		Limits: sweep.DefaultLimits(), Log: slog.New(slog.DiscardHandler),
	}
}

// commandWorker returns the name by which the process of a command takes leases.
func commandWorker(command string) string { return fmt.Sprintf("%s/%d", command, os.Getpid()) }

// nowhere is a task.Sender that drops messages.
type nowhere struct{}

func (nowhere) Send(context.Context, string, []byte, time.Duration) error { return nil }

// readOnly is a bucket that can be read. All its writes fail with the error in the field why.
type readOnly struct {
	blob.Reader
	why error
}

// Create fails with b.why, as Replace and Delete do.
func (b readOnly) Create(_ context.Context, key string, _ []byte) error {
	return b.refuse("create", key)
}

func (b readOnly) Replace(_ context.Context, key string, _ []byte) error {
	return b.refuse("replace", key)
}

func (b readOnly) Delete(_ context.Context, key string) error { return b.refuse("delete", key) }

func (b readOnly) refuse(op, key string) error { return fmt.Errorf("cannot %s %s: %w", op, key, b.why) }
