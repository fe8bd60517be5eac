package tests

import (
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/local/redis"
)

// A crawl with a remote Redis survives when connections are cut before or after a command is
// done, and when answers come late or never.
func TestSurviveRedis(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 60)
	tr.site.answerIn(10 * time.Millisecond)
	server, err := redis.Start(t.Context(), redis.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	path := newWay(t, strings.TrimSuffix(strings.TrimPrefix(server.URL, "redis://"), "/0"))
	p := newPlace(t)
	run := p.start("crawl", crawling(tr.crawlDocs("--redis", "redis://"+path.address+"/0", "--partitions", "3")...)...)
	tr.site.awaitVisits(1, run.ended) // before the first visit, a failure ends the program with a message about the address
	path.begin()
	if _, err := run.wait(); err != nil {
		t.Fatalf("%v\n%s", err, p.logTail())
	}
	t.Logf("faults: %v", path.count())
	p.verify()
	mustEqual(t, "faults of Redis", tr.quiet, p.picture(tr.queries))
}

// way is a proxy between a client and a server. It loses and delays bytes at random.
type way struct {
	address, server string
	conns           sync.WaitGroup

	mu    sync.Mutex // protects the fields below
	begun bool
	rand  *rand.Rand
	deck  []string // names of the faults that are still to happen, in their order
	dealt map[string]int
}

func newWay(t *testing.T, server string) *way {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{address: l.Addr().String(), server: server, rand: rand.New(rand.NewPCG(1, 0)), dealt: make(map[string]int)}
	for range 8 {
		w.deck = append(w.deck, "late answer", "cut before", "cut after")
	}
	w.deck = append(w.deck, "no answer", "no answer") // the client waits three seconds for each of these
	w.rand.Shuffle(len(w.deck), func(i, j int) { w.deck[i], w.deck[j] = w.deck[j], w.deck[i] })
	w.conns.Go(func() { w.accept(l) })
	t.Cleanup(func() {
		_ = l.Close()
		w.conns.Wait()
	})
	return w
}

func (w *way) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return // the test is over
		}
		w.conns.Go(func() { w.carry(client) })
	}
}

// carry passes on the bytes between a client and Redis until one side closes the connection, or
// a fault cuts it.
func (w *way) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", w.server)
	if err != nil {
		return
	}
	defer server.Close()
	w.conns.Go(func() {
		defer client.Close()
		defer server.Close()
		w.pass(client, server, "late answer", "no answer", "cut after")
	})
	w.pass(server, client, "cut before")
}

// pass copies bytes from one side of a connection to the other. At times it causes one of the named
// faults: it delays some bytes, leaves them out, or stops copying.
func (w *way) pass(to io.Writer, from io.Reader, all ...string) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			switch w.deal(all) {
			case "cut before", "cut after":
				return
			case "no answer":
				continue
			case "late answer":
				time.Sleep(100 * time.Millisecond) // a slow server, not a wait for something
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *way) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = true
}

func (w *way) count() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.dealt)
}

// deal decides whether a fault happens now, and returns its name; "" if none happens. The caller
// gives the names of the faults that are possible here. In seven of eight calls, at random, no fault
// happens. In the others, the first fault in w.deck happens and is removed from the deck; but if it
// is not possible here, no fault happens.
func (w *way) deal(all []string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.begun || len(w.deck) == 0 || w.rand.IntN(8) > 0 {
		return ""
	}
	for _, kind := range all {
		if kind == w.deck[0] {
			w.deck = w.deck[1:]
			w.dealt[kind]++
			return kind
		}
	}
	return ""
}
