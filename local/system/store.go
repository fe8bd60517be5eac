package system

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/functions/shared/environment"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/blob/s3blob"
	"github.com/bucketsearch/bucketsearch/local/datadir"
	"github.com/bucketsearch/bucketsearch/local/s3"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// Names in the embedded store: of the bucket, of the access key of its only user, and of the
// region that it claims to be in.
const (
	bucketName = "bucketsearch"
	accessKey  = "bucketsearch"
	region     = "us-east-1"
)

// store is the object store that a system uses: an embedded or a remote one.
type store struct {
	bucket   *watchedBucket
	counting *countblob.Bucket
	url      string              // URL of the bucket
	server   *s3.Server          // the embedded store; nil for a remote one
	getenv   func(string) string // function like os.Getenv that also has the store's credentials
}

// openStore opens the remote bucket whose URL is o.S3. If the URL is "", it starts an embedded store
// and opens the bucket of that store. An embedded store calls events.Stored for every object that is
// stored in it. For a remote store, events.Stored is called only for objects that this process
// stores. The function sweep finds the objects of other programs later.
func openStore(ctx context.Context, o Options, dir *datadir.Dir, events s3.Events, traffic *vitals.Traffic) (*store, error) {
	if o.S3 == "" {
		return startStore(ctx, o, dir, events, traffic)
	}
	s, opened, err := connect(o.S3, o.Getenv, events.Stored, traffic)
	if err != nil {
		return nil, err
	}
	return s, s.explain(opened.Ensure(ctx))
}

// WrongOption is an error in the value of an option, such as an Options.S3 that is no valid address.
type WrongOption struct{ error }

// Unwrap returns the error itself.
func (w WrongOption) Unwrap() error { return w.error }

// startStore starts the embedded store, a child process, on the data directory.
func startStore(ctx context.Context, o Options, dir *datadir.Dir, events s3.Events, traffic *vitals.Traffic) (*store, error) {
	secret, err := dir.Secret()
	if err != nil {
		return nil, err
	}
	server, err := s3.Start(ctx, s3.Command{Path: o.Self[0], Args: o.Self[1:]}, s3.Options{
		Dir: dir.S3(), Listen: "127.0.0.1:0", AccessKey: accessKey, SecretKey: secret, Bucket: bucketName,
		ReadOnly: dir.ReadOnly() != nil,
	}, events)
	if err != nil {
		return nil, fmt.Errorf("cannot start the embedded object store: %w", err)
	}
	s, _, err := connect(server.Endpoint+"/"+bucketName, Credentials(secret), nil, traffic)
	if err != nil {
		server.Close()
		return nil, err
	}
	s.server = server
	return s, nil
}

// connect opens the bucket at a URL, without sending a request. Requests to it are counted. A
// request that fails is repeated for some time. The callback, if not nil, is called for every
// object that this process stores.
func connect(url string, getenv func(string) string, stored func(string, int64), traffic *vitals.Traffic) (*store, *s3blob.Bucket, error) {
	opened, err := environment.OpenS3(url, getenv, traffic)
	if err != nil {
		return nil, nil, WrongOption{fmt.Errorf("--s3: %w", err)}
	}
	s := &store{url: url, getenv: getenv, counting: countblob.New(meter.Bucket(opened))}
	s.bucket = &watchedBucket{Bucket: blob.Retry(s.counting, environment.RetryPolicy()), stored: stored, last: new(atomic.Pointer[error])}
	return s, opened, nil
}

// of returns the bucket for use by the named function. The recorder counts each request to this
// bucket as one of that function.
func (s *store) of(function string, recorder *vitals.Recorder) blob.Bucket {
	counted := recorder.Bucket(function, s.counting)
	return &watchedBucket{Bucket: blob.Retry(counted, environment.RetryPolicy()), stored: s.bucket.stored, last: s.bucket.last}
}

// explain returns err, an error of the store. If the store is remote, it adds advice for the user.
func (s *store) explain(err error) error {
	if err == nil || s.server != nil {
		return err
	}
	if errors.Is(err, blob.ErrRetryable) {
		return fmt.Errorf("the object store of --s3 %s does not answer; is it running, and is this its address? %w", s.url, err)
	}
	return fmt.Errorf("the object store of --s3 %s cannot be used; check the address, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION: %w", s.url, err)
}

// close stops the embedded store, if there is one.
func (s *store) close() {
	if s.server != nil {
		s.server.Close()
	}
}

// Credentials returns a replacement of os.Getenv: a function that returns values only for the
// variables with the access key, the secret and the region of the embedded store.
func Credentials(secret string) func(string) string {
	variables := map[string]string{"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": region}
	return func(name string) string { return variables[name] }
}

// watchedBucket is a bucket that calls a function for every object that it creates, and keeps the
// error of the last Create.
type watchedBucket struct {
	blob.Bucket
	stored func(key string, size int64) // function that is called with the key and the size of each created object; nil: none
	last   *atomic.Pointer[error]       // error of the last Create in any bucket of the store; nil: it succeeded
}

// Create implements blob.Bucket.
func (w *watchedBucket) Create(ctx context.Context, key string, content []byte) error {
	err := w.Bucket.Create(ctx, key, content)
	switch {
	case err == nil:
		w.last.Store(nil)
		if w.stored != nil {
			w.stored(key, int64(len(content)))
		}
	case errors.Is(err, blob.ErrExists):
		w.last.Store(nil)
	case ctx.Err() == nil:
		w.last.Store(&err)
	}
	return err
}

// trouble returns the error of the last Create, nil if it succeeded.
func (w *watchedBucket) trouble() error {
	if err := w.last.Load(); err != nil {
		return *err
	}
	return nil
}

// CheckStore returns an error if the object store of --s3 is known to replace objects that are to be
// created only if they are absent (see store.checkCreate). An embedded store is not checked.
func (a *Attached) CheckStore(ctx context.Context) error { return a.store.checkCreate(ctx) }

// checkCreate returns an error if a remote object store ignores the condition If-None-Match of a PUT, as
// some stores do. There, two processes that commit at the same time would both succeed, and one of them
// would erase what the other has committed.
//
// To find out, checkCreate creates an object that the bucket has, the first storage strategy, once more
// with the same bytes. So nothing changes in a store that ignores the condition. If the object is absent,
// or the store answers by another error, nothing is known, and checkCreate returns nil.
func (s *store) checkCreate(ctx context.Context) error {
	if s.server != nil {
		return nil
	}
	key := layout.StrategyKey(string(rules.Storage), 1)
	content, err := s.bucket.Get(ctx, key, blob.Range{})
	if err != nil {
		return nil
	}
	if s.counting.Create(ctx, key, content) != nil { // not s.bucket, which repeats a request whose answer is lost
		return nil
	}
	return fmt.Errorf("the object store of --s3 %s ignores the condition If-None-Match of a PUT: it has replaced %s, which exists, and so would lose commits; use a store that refuses this with status 412, as AWS S3 does", s.url, key)
}
