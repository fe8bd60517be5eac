package s3blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// serve starts a store whose answers come from the given handler, and opens a bucket of this store.
func serve(t *testing.T, timeout time.Duration, handler http.HandlerFunc) *Bucket {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	bucket, err := Open(Config{Endpoint: server.URL, Bucket: "bucket", AccessKey: "access", SecretKey: "secret", Stall: timeout, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

func calls(ctx context.Context, b *Bucket) map[string]error {
	_, errGet := b.Get(ctx, "key", blob.Range{})
	_, errHead := b.Head(ctx, "key")
	var errList error
	for _, err := range b.List(ctx, "key", "") {
		errList = err
	}
	return map[string]error{
		"get": errGet, "head": errHead, "list": errList,
		"create":  b.Create(ctx, "key", []byte("content")),
		"replace": b.Replace(ctx, "key", []byte("content")),
		"delete":  b.Delete(ctx, "key"),
	}
}

func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   error // nil: an error that wraps none of blob's errors
		says   string
	}{
		{500, "InternalError", blob.ErrRetryable, "status 500"},
		{503, "SlowDown", blob.ErrRetryable, "status 503"},
		{507, "InsufficientStorage", blob.ErrRetryable, "is full; make room there"},
		{429, "TooManyRequests", blob.ErrRetryable, "status 429"},
		{409, "ConditionalRequestConflict", blob.ErrRetryable, "status 409"},
		{412, "PreconditionFailed", blob.ErrExists, ""},
		{416, "InvalidRange", blob.ErrRange, ""},
		{403, "AccessDenied", nil, "refuses the credentials"},
		{400, "InvalidArgument", nil, "status 400"},
		{501, "NotImplemented", nil, "lacks what this needs"},
	} {
		t.Run(c.code, func(t *testing.T) {
			t.Parallel() // minio-go pauses after every failure
			var requests atomic.Int64
			b := serve(t, 0, func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				w.WriteHeader(c.status)
				if r.Method != http.MethodHead {
					fmt.Fprintf(w, "<Error><Code>%s</Code><Message>it said so</Message></Error>", c.code)
				}
			})
			for call, err := range calls(t.Context(), b) {
				for _, kind := range []error{blob.ErrAbsent, blob.ErrExists, blob.ErrRange, blob.ErrRetryable} {
					if errors.Is(err, kind) != (kind == c.want) {
						t.Errorf("%s: got %v, want %v", call, err, c.want)
					}
				}
				if err == nil || !strings.HasPrefix(err.Error(), "cannot "+call+" key: ") || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s: got %v, want it to name the call and say %q", call, err, c.says)
				}
			}
			if n := requests.Load(); n != 6 {
				t.Errorf("sent %d requests for 6 calls", n)
			}
		})
	}
}

func TestNoAnswer(t *testing.T) {
	release := make(chan struct{})
	silent := serve(t, 20*time.Millisecond, func(http.ResponseWriter, *http.Request) { <-release })
	stalled := serve(t, 20*time.Millisecond, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("<some"))
		w.(http.Flusher).Flush()
		<-release
	})
	t.Cleanup(func() { close(release) }) // before the servers wait for their handlers
	hangsUp := serve(t, 0, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for name, b := range map[string]*Bucket{"silent": silent, "hangs up": hangsUp, "not there": nowhere(t)} {
		for call, err := range calls(t.Context(), b) {
			if !errors.Is(err, blob.ErrRetryable) {
				t.Errorf("%s: %s: got %v, want ErrRetryable", name, call, err)
			}
		}
	}
	_, errGet := stalled.Get(t.Context(), "key", blob.Range{})
	var errList error
	for _, err := range stalled.List(t.Context(), "", "") {
		errList = err
	}
	for call, err := range map[string]error{"get": errGet, "list": errList} {
		if !errors.Is(err, blob.ErrRetryable) {
			t.Errorf("stalled: %s: got %v, want ErrRetryable", call, err)
		}
	}
}

// nowhere returns a bucket of a store at an address where no server listens.
func nowhere(t *testing.T) *Bucket {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	b, err := Open(Config{Endpoint: "http://" + listener.Addr().String(), Bucket: "bucket", AccessKey: "a", SecretKey: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCancelledWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := serve(t, 0, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := b.Get(ctx, "key", blob.Range{}); !errors.Is(err, context.Canceled) || errors.Is(err, blob.ErrRetryable) {
		t.Errorf("got %v, want the context's error alone", err)
	}
}

func TestGetRequests(t *testing.T) {
	for r, want := range map[blob.Range]string{
		{}:                                 "",
		{Offset: 5}:                        "bytes=5-",
		{Length: 1}:                        "bytes=0-0",
		{Length: 2}:                        "bytes=0-1",
		{Offset: 5, Length: 1}:             "bytes=5-5",
		{Offset: 5, Length: 10}:            "bytes=5-14",
		{Offset: -7}:                       "bytes=-7",
		{Offset: 5, Length: math.MaxInt64}: "bytes=5-9223372036854775807",
	} {
		var got []string
		at := max(r.Offset, 0) // offset of the only byte
		b := serve(t, 0, func(w http.ResponseWriter, r *http.Request) {
			got = append(got, r.Header.Get("Range"))
			w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, at, at+1))
			_, _ = w.Write([]byte("x"))
		})
		if content, err := b.Get(t.Context(), "key", r); string(content) != "x" || err != nil {
			t.Errorf("%+v: got %q, %v", r, content, err)
		}
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Errorf("%+v: Range of the requests (-want +got):\n%s", r, diff)
		}
	}
}

func TestGetDistrusts(t *testing.T) {
	const (
		nothing = `"d41d8cd98f00b204e9800998ecf8427e"`
		other   = `"827ccb0eea8a706c4c34a16891f84e7b"`
	)
	for _, c := range []struct {
		name, announced, body string
		etag, part            string
		r                     blob.Range
		want                  error // nil: an error that is not ErrRetryable
		says                  string
	}{
		{"cut short", "10", "12345", other, "", blob.Range{}, blob.ErrRetryable, "body of 10 bytes"},
		{"more than asked for", "10", "1234567890", other, "", blob.Range{Offset: 2, Length: 4}, nil, "announces 10"},
		{"nothing", "0", "", nothing, "", blob.Range{Offset: -4}, blob.ErrRange, ""},
		{"no length", "", "12345", other, "", blob.Range{}, nil, "announces -1"},
		{"empty, and it should not be", "0", "", other, "", blob.Range{}, blob.ErrRetryable, "damaged: status 200 and no content"},
		{"empty, and it does not say whether", "0", "", "", "", blob.Range{}, blob.ErrRetryable, "damaged: status 200 and no content"},
		{"a part is empty", "0", "", other, "", blob.Range{Offset: 2, Length: 4}, blob.ErrRetryable, "damaged: status 200 and no content"},
		{"which part?", "4", "1234", other, "", blob.Range{Offset: 2, Length: 4}, blob.ErrRetryable, "does not say which"},
		{"another part", "4", "1234", other, "bytes 0-3/9", blob.Range{Offset: 2, Length: 4}, blob.ErrRetryable, `as "bytes 0-3/9"`},
		{"less of the part", "2", "12", other, "bytes 2-3/9", blob.Range{Offset: 2, Length: 4}, blob.ErrRetryable, `as "bytes 2-3/9"`},
		{"less of the end", "2", "12", other, "bytes 7-8/9", blob.Range{Offset: -4}, blob.ErrRetryable, `as "bytes 7-8/9"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := serve(t, 0, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
				w.Header().Set("ETag", c.etag)
				if c.part != "" {
					w.Header().Set("Content-Range", c.part)
				}
				if c.announced != "" {
					w.Header().Set("Content-Length", c.announced)
				} else {
					w.(http.Flusher).Flush()
				}
				_, _ = io.WriteString(w, c.body)
			})
			content, err := b.Get(t.Context(), "key", c.r)
			if err == nil || (c.want != nil && !errors.Is(err, c.want)) || (c.want == nil && errors.Is(err, blob.ErrRetryable)) {
				t.Fatalf("got %q, %v; want %v", content, err, c.want)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want it to say %q", err, c.says)
			}
		})
	}
}

// If an answer has neither content nor an ETag, the object may be empty, or the answer may have
// been cut off. Get and Head succeed if a listing says that the object has 0 bytes. Otherwise
// they fail with ErrRetryable.
func TestCutOff(t *testing.T) {
	for size, want := range map[string]error{"0": nil, "7": blob.ErrRetryable} {
		b := serve(t, 0, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("list-type") {
				_, _ = io.WriteString(w, `<ListBucketResult><Contents><Key>key</Key><Size>`+size+`</Size><LastModified>2026-11-23T00:00:00Z</LastModified></Contents></ListBucketResult>`)
				return
			}
			w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
			w.Header().Set("Content-Length", "0")
		})
		content, err := b.Get(t.Context(), "key", blob.Range{})
		if len(content) > 0 || !errors.Is(err, want) {
			t.Errorf("of %s bytes: got %q, %v; want %v", size, content, err, want)
		}
		if _, err := b.Head(t.Context(), "key"); !errors.Is(err, want) {
			t.Errorf("of %s bytes: %v, want %v", size, err, want)
		}
	}
}

// Every call but Delete fails if the answer has status 200, but neither an ETag nor content.
func TestEmptyAnswers(t *testing.T) {
	for name, modified := range map[string]string{"bare": "", "with a date": time.Unix(0, 0).UTC().Format(http.TimeFormat)} {
		b := serve(t, 0, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if modified != "" {
				w.Header().Set("Last-Modified", modified)
			}
			w.Header().Set("Content-Length", "0")
		})
		for call, err := range calls(t.Context(), b) {
			if call == "delete" { // an empty answer is success
				continue
			}
			if !errors.Is(err, blob.ErrRetryable) {
				t.Errorf("%s: %s: got %v, want ErrRetryable", name, call, err)
			}
		}
	}
}

// Create sends one PUT with the condition If-None-Match: * and the whole content, however large.
func TestCreateRequests(t *testing.T) {
	for _, size := range []int{0, 5, continueSize, 80 << 20} {
		var got []string
		b := serve(t, 0, func(w http.ResponseWriter, r *http.Request) {
			n, err := io.Copy(io.Discard, r.Body)
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("ETag", `"1"`)
			got = append(got, fmt.Sprintf("%s %s %s %d", r.Method, r.URL.Path, r.Header.Get("If-None-Match"), n))
		})
		if err := b.Create(t.Context(), "a/key", make([]byte, size)); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{fmt.Sprintf("PUT /bucket/a/key * %d", size)}, got); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	}
}

// If the endpoint is an address of AWS that names a region, that region is used, and not
// Config.Region.
func TestRegion(t *testing.T) {
	for _, test := range []struct{ endpoint, region, want string }{
		{"https://s3.eu-central-1.amazonaws.com", "us-west-2", "eu-central-1"},
		{"https://s3.amazonaws.com", "", "us-east-1"},
		{"http://127.0.0.1:9000", "", "us-east-1"},
		{"http://127.0.0.1:9000", "garage", "garage"},
	} {
		bucket, err := Open(Config{Endpoint: test.endpoint, Bucket: "bucket", Region: test.region})
		if err != nil || bucket.region != test.want {
			t.Errorf("%+v: %+v, %v", test, bucket, err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	for _, endpoint := range []string{"", "localhost:9000", "ftp://host", "http://", "http://host/path", "http://[", "s3://bucket"} {
		if _, err := Open(Config{Endpoint: endpoint, Bucket: "bucket"}); err == nil || !strings.Contains(err.Error(), "want http://host:port") {
			t.Errorf("%q: got %v", endpoint, err)
		}
	}
	for _, name := range []string{"", "a", "with space"} {
		if _, err := Open(Config{Endpoint: "http://host", Bucket: name}); err == nil || !strings.Contains(err.Error(), "bucket") {
			t.Errorf("bucket %q: got %v", name, err)
		}
	}
}
