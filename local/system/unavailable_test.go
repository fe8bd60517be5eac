package system

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/s3"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// elsewhere starts an object store that a system is to use as a remote store. It returns its
// URL, and a function like os.Getenv with its credentials.
func elsewhere(t *testing.T) (endpoint string, getenv func(string) string) {
	t.Helper()
	server, err := s3.Start(t.Context(), s3.Command{Path: os.Args[0], Args: []string{serveStore}}, s3.Options{
		Dir: t.TempDir(), Listen: "127.0.0.1:0", AccessKey: accessKey, SecretKey: "elsewhere-secret", Bucket: "first",
	}, s3.Events{Stored: func(string, int64) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server.Endpoint, Credentials("elsewhere-secret")
}

// TestElsewhere crawls with two programs at once into one bucket of a remote store; one of them
// uses a remote Redis. All pages must be stored. If a bucket is absent or empty, or the
// credentials are wrong, the error must say so.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	endpoint, getenv := elsewhere(t)
	web := newSite(t, 40)
	redis := "redis://" + miniredis.RunT(t).Addr() + "/0"
	var programs sync.WaitGroup
	var bucket blob.Reader
	for i := range 2 {
		o := options(t)
		o.S3, o.Getenv = endpoint+"/shared", getenv
		if i == 0 {
			o.Redis = redis
		}
		s := open(t, o)
		bucket = s.Bucket
		begin(t, s, Plan{Seeds: seeds(web.URL + "/")})
		programs.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := s.Wait(ctx, false, func(Progress, error) {}); err != nil {
				t.Error(err)
			}
		})
	}
	programs.Wait()
	if report := mustVerify(t, bucket); report.URLs != 40 {
		t.Errorf("%+v, want 40 URLs", report)
	}

	o := options(t)
	o.S3, o.Getenv = endpoint+"/shared", getenv
	for _, o.Redis = range []string{redis, ""} {
		a, err := Attach(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if (a.Redis != nil) != (o.Redis != "") {
			t.Errorf("it is connected to %v, want %q", a.Redis, o.Redis)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(o.Data); len(left) > 0 {
		t.Errorf("reading made %v in the data directory", left)
	}
	for name, wrong := range map[string]struct {
		o    func(*Options)
		want string
	}{
		"absent":            {func(o *Options) { o.S3 = endpoint + "/absent" }, "there is no bucket absent"},
		"empty":             {func(o *Options) { o.S3 = endpoint + "/first" }, ErrEmpty.Error()},
		"credentials":       {func(o *Options) { o.Getenv = Credentials("wrong") }, "refuses the credentials"},
		"no URL":            {func(o *Options) { o.S3 = "first" }, "is no URL of a bucket"},
		"no Redis":          {func(o *Options) { o.Redis = "redis://127.0.0.1:1/0" }, "is --redis or BUCKETSEARCH_REDIS right?"},
		"empty, with Redis": {func(o *Options) { o.S3, o.Redis = endpoint+"/first", redis }, ErrEmpty.Error()},
	} {
		o := o
		wrong.o(&o)
		a, err := Attach(t.Context(), o)
		if err == nil {
			err = errors.Join(a.Check(t.Context()), a.Close())
		}
		if err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%s: got %v, want %q", name, err, wrong.want)
		}
	}
}

// TestRedisOfAnother: neither a system nor a command may use the Redis of another bucket.
func TestRedisOfAnother(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Redis = "redis://" + miniredis.RunT(t).Addr() + "/0"
	open(t, o)
	endpoint, getenv := elsewhere(t)
	other := options(t)
	other.S3, other.Getenv = endpoint+"/other", getenv
	open(t, other)
	other.Data, other.Redis = t.TempDir(), o.Redis
	const want = "frontier of another bucket"
	if _, err := Open(t.Context(), other); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Open: %v, want %q", err, want)
	}
	if _, err := Attach(t.Context(), other); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Attach: %v, want %q", err, want)
	}
}

// failing is a proxy of an object store. It fails requests on demand.
type failing struct {
	http.Handler
	writes  bool // true: only writes fail; false: all requests
	left    atomic.Int64
	refused atomic.Int64
}

func (f *failing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if (r.Method == http.MethodPut || !f.writes) && f.left.Add(-1) >= 0 {
		f.refused.Add(1)
		w.WriteHeader(http.StatusInsufficientStorage)
		_, _ = w.Write([]byte(`<Error><Code>InsufficientStorage</Code><Message>no space left on device</Message></Error>`))
		return
	}
	f.Handler.ServeHTTP(w, r)
}

// TestStoreAway: a crawl must survive an object store that fails for a while. The store fails
// either all requests, or only writes, as with a full disk.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	for name, writes := range map[string]bool{"all": false, "writes": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint, getenv := elsewhere(t)
			target, err := url.Parse(endpoint)
			if err != nil {
				t.Fatal(err)
			}
			proxy := &failing{writes: writes, Handler: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
				r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host // does not change the Host header, which is signed
			}}}
			front := httptest.NewServer(proxy)
			defer front.Close()
			web := newSite(t, 20)
			refusals := int64(15)
			if writes { // enough that one of several functions that write at a time fails in all its attempts
				refusals = 40
			}
			web.gate = func(n int) {
				if n == 5 {
					proxy.left.Store(refusals)
				}
			}
			o := options(t)
			o.S3, o.Getenv = front.URL+"/bucket", getenv
			s := open(t, o)
			begin(t, s, Plan{Seeds: seeds(web.URL + "/")})
			told := false
			wait(t, s, func(_ Progress, err error) {
				told = told || err != nil && strings.Contains(err.Error(), "no space left on device")
			})
			if n := proxy.refused.Load(); n != refusals {
				t.Errorf("%d requests were refused, want %d", n, refusals)
			}
			if writes && !told { // other requests are retried for longer than this takes
				t.Error("nobody was told what was in the way")
			}
			if report := mustVerify(t, s.Bucket); report.Pages != 20 {
				t.Errorf("%+v, want 20 pages", report)
			}
		})
	}
}

// TestRedisAway: a crawl survives a remote Redis that stops in the middle of it and comes back
// empty.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	web, o := newSite(t, 20), options(t)
	away := miniredis.RunT(t)
	o.Redis = "redis://" + away.Addr() + "/0"
	gone := make(chan struct{})
	web.gate = func(n int) {
		if n == 8 {
			away.Close()
			close(gone)
		}
	}
	s := open(t, o)
	begin(t, s, Plan{Seeds: seeds(web.URL + "/")})
	back := false
	wait(t, s, func(_ Progress, err error) {
		select {
		case <-gone:
		default:
			return
		}
		if err != nil && !back {
			back = true
			away.FlushAll()
			if err := away.Restart(); err != nil {
				t.Error(err)
			}
		}
	})
	if !back {
		t.Error("nobody was told that Redis is away")
	}
	if report := mustVerify(t, s.Bucket); report.Pages != 20 {
		t.Errorf("%+v, want 20 pages", report)
	}
}

// TestRedisEnds: a crawl survives the end of the redis-server that the system has started. The
// system starts a new one, which is empty.
func TestRedisEnds(t *testing.T) {
	t.Parallel()
	redistest.Program(t) // the embedded Redis cannot end alone
	web := newSite(t, 20)
	s := open(t, options(t))
	web.gate = func(n int) {
		if n == 3 || n == 9 {
			s.Redis.ShutdownNoSave(t.Context()) // fails when the connection ends, as it should
		}
	}
	if got := crawl(t, s, Plan{Seeds: seeds(web.URL + "/")}); got.Stored != 20 {
		t.Errorf("stored %d pages, want 20", got.Stored)
	}
	mustVerify(t, s.Bucket)
}

// broken is a server that has ended and cannot be started again.
type broken struct{}

func (broken) Done() <-chan struct{} {
	ended := make(chan struct{})
	close(ended)
	return ended
}

func (broken) Err() error { return errors.New("it has ended") }

// If a server of the system ends and cannot be started again, Wait returns an error that says
// so.
func TestServerIsGivenUp(t *testing.T) {
	t.Parallel()
	s := open(t, options(t))
	s.watchServer(t.Context(), broken{})
	err := s.Wait(t.Context(), false, func(Progress, error) {})
	if err == nil || !strings.Contains(err.Error(), "it has ended; start again to go on") {
		t.Errorf("got %v, want that it has ended", err)
	}
}

// TestDiskFull: the system stops before the disk is full. When there is room again, the next
// start finishes the crawl.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	web, o := newSite(t, 20), options(t)
	s := open(t, o)
	free := s.room
	var full atomic.Bool
	s.room = func() (int64, error) {
		if full.Load() {
			return 5 << 20, nil
		}
		return free()
	}
	held := make(chan struct{})
	web.gate = func(n int) {
		if n == 8 {
			full.Store(true)
			<-held
		}
	}
	begin(t, s, Plan{Seeds: seeds(web.URL + "/")})
	err := s.Wait(t.Context(), false, func(Progress, error) {})
	close(held)
	if err == nil || !strings.Contains(err.Error(), "is full: 5 MiB are free") {
		t.Errorf("got %v, want that the disk is full", err)
	}
	mustVerify(t, s.Bucket)
	closeSystem(t, s)

	s = open(t, o)
	if got := crawl(t, s, Plan{Seeds: seeds(web.URL + "/")}); got.Stored != 20 {
		t.Errorf("stored %d pages, want 20", got.Stored)
	}
	mustVerify(t, s.Bucket)
}
