package main

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"syscall"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
)

// cost is what the calls of one operation have cost together.
type cost struct {
	calls    int
	requests int64   // to the object store
	bytes    int64   // of content that was read from the object store and written to it
	seconds  float64 // time of processors
	memory   int64   // greatest size of live objects that a garbage collection found during a call, less those before it, in bytes
}

// meter measures operations, one after another.
type meter struct {
	requests *countblob.Counter
	heap     heap
	costs    map[string]*cost // by the name of the operation
}

func newMeter(requests *countblob.Counter) *meter {
	m := &meter{requests: requests, costs: make(map[string]*cost)}
	m.heap.stop = make(chan struct{})
	go m.heap.watch()
	return m
}

func (m *meter) close() { close(m.heap.stop) }

// isFrequent lists operations with so many calls that no garbage is collected before each of them.
var isFrequent = map[string]bool{task.Schedule: true, task.Fetch: true, task.Pack: true, "warm query": true}

// measure calls the function do, and adds what it has cost to the costs of the named operation.
func (m *meter) measure(operation string, do func() error) error {
	if !isFrequent[operation] {
		runtime.GC() // what earlier operations have used does not count for this one
	}
	before, used, live := m.requests.Counts(), seconds(), m.heap.begin()
	err := do()
	spent := m.requests.Counts().Minus(before)
	c := m.costs[operation]
	if c == nil {
		c = new(cost)
		m.costs[operation] = c
	}
	c.calls++
	c.requests += spent.Requests()
	c.bytes += spent.Read + spent.Written
	c.seconds += seconds() - used
	c.memory = max(c.memory, m.heap.end()-live)
	return err
}

// seconds returns how long processors have worked for this process so far.
func seconds() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // never: the arguments are valid
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

// heap observes how much memory live objects take. It looks after each garbage collection, because only then
// it is known which objects are live.
type heap struct {
	stop chan struct{}

	mu         sync.Mutex // protects the fields below
	cycles     uint64     // number of garbage collections up to the last look
	live, most int64      // bytes of live objects after the last of them, and the most since begin
}

func (h *heap) watch() {
	for ticker := time.NewTicker(time.Millisecond); ; {
		select {
		case <-h.stop:
			ticker.Stop()
			return
		case <-ticker.C:
			h.look()
		}
	}
}

func (h *heap) look() {
	samples := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	h.mu.Lock()
	defer h.mu.Unlock()
	if cycles := samples[0].Value.Uint64(); cycles != h.cycles {
		h.cycles, h.live = cycles, int64(samples[1].Value.Uint64())
		h.most = max(h.most, h.live)
	}
}

// begin returns the size of all objects that were live at the last garbage collection, in bytes.
func (h *heap) begin() int64 {
	h.look()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.most = h.live
	return h.live
}

// end returns the greatest size since begin.
func (h *heap) end() int64 {
	h.look()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.most
}
