package tests

import (
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/s3"
)

// A crawl into a remote store survives every fault of a store and its network, and a disk that
// is full for a while.
func TestSurviveStore(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 60)
	tr.site.answerIn(5 * time.Millisecond)
	p, server := storeOf(t)
	target, err := url.Parse(server.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	faults := newStoreFaults(1, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host // does not change the Host header, which is signed
	}})
	front := httptest.NewServer(faults)
	t.Cleanup(front.Close)

	crawler := newPlace(t)
	crawler.env = []string{"AWS_ACCESS_KEY_ID=access", "AWS_SECRET_ACCESS_KEY=secret secret", "AWS_REGION=us-east-1"}
	run := crawler.start("crawl", crawling(tr.crawlDocs("--s3", front.URL+"/bucketsearch", "--partitions", "3")...)...)
	tr.site.awaitVisits(1, run.ended) // what fails before is told to the person who has given the address
	faults.begin()
	if _, err := run.wait(); err != nil {
		t.Fatalf("%v\n%s", err, crawler.logTail())
	}
	t.Logf("faults: %v", faults.dealt)
	for kind := range storeFaults {
		if faults.dealt[kind] == 0 {
			t.Errorf("no request met with %q", kind)
		}
	}
	front.Close()
	server.Close()
	p.verify()
	mustEqual(t, "faults of the store", tr.quiet, p.picture(tr.queries))
}

// During a crawl, an object store begins to answer all reads with status 200 and an empty body. The
// crawl must say that objects are damaged.
func TestEmptyStore(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 60)
	tr.site.answerIn(20 * time.Millisecond)
	_, server := storeOf(t)
	target, err := url.Parse(server.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host }}
	var broken atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			storeFaults["200 and nothing"](w, r, proxy)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	crawler := newPlace(t)
	crawler.env = []string{"AWS_ACCESS_KEY_ID=access", "AWS_SECRET_ACCESS_KEY=secret secret", "AWS_REGION=us-east-1"}
	run := crawler.start("crawl", crawling(tr.crawlDocs("--s3", front.URL+"/bucketsearch")...)...)
	tr.site.awaitVisits(1, run.ended)
	broken.Store(true)
	for until := time.Now().Add(patience); !strings.Contains(run.err.String(), "damaged: "); time.Sleep(50 * time.Millisecond) {
		select {
		case <-run.ended:
			if !strings.Contains(run.err.String(), "damaged: ") {
				t.Fatalf("it ended without a reason: %v\n%s", run.failure, run.err.String())
			}
			return
		default:
		}
		if time.Now().After(until) {
			t.Fatalf("it says nothing:\n%s\n%s", run.err.String(), crawler.logTail())
		}
	}
	broken.Store(false) // the crawl goes on when the store works again
	if _, err := run.wait(); err != nil {
		t.Error(err)
	}
}

// storeOf starts an object store for a crawl that uses a remote store. It returns the store and a
// place (a data directory). The files of the store lie where the program keeps those of an embedded
// store in this place. So when the store has ended, the program can read the bucket there.
func storeOf(t *testing.T) (place, *s3.Server) {
	t.Helper()
	p := newPlace(t)
	server, err := s3.Start(t.Context(), s3.Command{Path: program, Args: []string{"serve-store"}}, s3.Options{
		Dir: filepath.Join(p.data, "s3"), Bucket: "bucketsearch", Listen: "127.0.0.1:0", AccessKey: "access", SecretKey: "secret secret",
	}, s3.Events{Stored: func(string, int64) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return p, server
}

// storeFault simulates a fault of an object store. It answers a request to the store wrongly or not
// at all. Some faults let the store execute the request first, so that only the answer is wrong.
type storeFault func(w http.ResponseWriter, r *http.Request, store http.Handler)

var storeFaults = map[string]storeFault{
	"500":           refuse(http.StatusInternalServerError, "InternalError"),
	"503 slow down": refuse(http.StatusServiceUnavailable, "SlowDown"),
	"507 disk full": refuse(http.StatusInsufficientStorage, "StorageFull"),
	"no answer": func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done() // the client has given up
	},
	"reset before": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { reset(w) },
	"reset after": func(w http.ResponseWriter, r *http.Request, store http.Handler) {
		store.ServeHTTP(httptest.NewRecorder(), r)
		reset(w)
	},
	"slow bytes": func(w http.ResponseWriter, r *http.Request, store http.Handler) {
		body := answerOf(w, r, store)
		first := body[:min(300, len(body))]
		for i := range first {
			_, _ = w.Write(first[i : i+1])
			_ = http.NewResponseController(w).Flush()
			_ = blob.Sleep(r.Context(), 3*time.Millisecond)
		}
		_, _ = w.Write(body[len(first):])
	},
	"200 and nothing": func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", "0")
	},
	"cut short": func(w http.ResponseWriter, r *http.Request, store http.Handler) {
		body := answerOf(w, r, store)
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	},
}

func refuse(status int, code string) storeFault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<Error><Code>"+code+"</Code><Message>it said so</Message></Error>")
	}
}

// reset closes the connection of a request by a TCP reset, so that the client gets an error
// instead of the end of the answer.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, is := conn.(*net.TCPConn); is {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// answerOf passes a request on to the store, writes the header of its answer to w, and returns
// the body.
func answerOf(w http.ResponseWriter, r *http.Request, store http.Handler) []byte {
	reply := httptest.NewRecorder()
	store.ServeHTTP(reply, r)
	maps.Copy(w.Header(), reply.Header())
	w.WriteHeader(reply.Code)
	return reply.Body.Bytes()
}

// unkindStore is a proxy of an object store. It answers some requests with faults.
type unkindStore struct {
	store http.Handler

	mu    sync.Mutex // protects the fields below
	begun bool
	rand  *rand.Rand
	deck  []string // names of the faults that are still to happen, in their order
	full  int      // number of writes that are still to be refused, because the disk is full
	dealt map[string]int
}

// newStoreFaults returns a proxy of the store that answers one request in five with a fault. The
// seed decides the order of the faults. Most kinds of faults happen three times. Two kinds
// happen once: a request without an answer, because the client then waits ten seconds, and a
// full disk, which refuses thirty writes.
func newStoreFaults(seed uint64, store http.Handler) *unkindStore {
	u := &unkindStore{store: store, rand: rand.New(rand.NewPCG(seed, 0)), dealt: make(map[string]int)}
	for _, kind := range slices.Sorted(maps.Keys(storeFaults)) {
		switch kind {
		case "no answer", "507 disk full":
			u.deck = append(u.deck, kind)
		default:
			u.deck = append(u.deck, kind, kind, kind)
		}
	}
	u.rand.Shuffle(len(u.deck), func(i, j int) { u.deck[i], u.deck[j] = u.deck[j], u.deck[i] })
	return u
}

func (u *unkindStore) begin() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.begun = true
}

func (u *unkindStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if kind := u.deal(r); kind != "" {
		storeFaults[kind](w, r, u.store)
		return
	}
	u.store.ServeHTTP(w, r)
}

// deal returns the name of the fault with which to answer a request, or "" to pass the request
// on to the store.
func (u *unkindStore) deal(r *http.Request) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	kind := ""
	switch {
	case u.full > 0 && r.Method == http.MethodPut:
		kind = "507 disk full"
		u.full--
	case u.begun && len(u.deck) > 0 && u.rand.IntN(5) == 0:
		kind, u.deck = u.deck[0], u.deck[1:]
		if kind == "507 disk full" {
			u.full = 30
		}
	default:
		return ""
	}
	u.dealt[kind]++
	return kind
}
