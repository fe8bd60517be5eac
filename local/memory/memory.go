// Package memory limits the memory of the processes of one system on a machine: all live
// memory to half of the machine's, and garbage by the size of the live heap.
//
// Two settings limit a Go process. GOMEMLIMIT, the soft limit, divides half of the memory of
// the machine (or of its control group): an eighth for the embedded object store, seven
// eighths for the process of the command. Only live memory comes near that limit, because
// GOGC limits garbage before. GOGC depends on the live heap and on the process's room: the
// size that its heap, garbage included, may reach while at most half of it is live.
//
//	live heap       GOGC          at most
//	room/4          300           room bytes of heap
//	room/4…room/2   300…100       room bytes of heap
//	more            100           twice the live heap
//
// So a crawl, whose live heap is small, takes the same memory on a machine of 24 GiB as on
// one of 2; and a rebuild of a frontier of a million pages, whose live heap is large,
// collects garbage no more often than any Go program. The environment's GOMEMLIMIT and
// GOGC take precedence.
package memory

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Part holds the memory limits of one of the processes of a system on one machine.
type Part struct {
	room   uint64 // size in bytes that the heap may reach, garbage included, while at most half is live
	eighth int64  // the soft limit is so many eighths of half of the machine's memory
	least  int64  // lowest soft limit in bytes, however small the machine is
}

// The parts of a system on one machine.
var (
	Command = Part{room: 144 << 20, eighth: 7, least: 160 << 20} // the process of the command, with all functions
	Store   = Part{room: 48 << 20, eighth: 1, least: 64 << 20}   // the embedded object store, whose libraries take 43 MB
)

// Bounds of GOGC, in percent of the live heap.
const (
	mostGarbage  = 300
	leastGarbage = 100
)

// Tune sets the soft memory limit and GOGC of this process, and adapts GOGC after each garbage
// collection. It does not change a value that the environment sets (GOMEMLIMIT, GOGC). Call it
// once.
func Tune(p Part, getenv func(string) string) {
	if getenv("GOMEMLIMIT") == "" {
		if limit := p.limit(machineBytes(os.DirFS("/"))); limit > 0 {
			debug.SetMemoryLimit(limit)
		}
	}
	if getenv("GOGC") == "" {
		t := &tuner{room: p.room}
		t.tune()
		t.await()
	}
}

// limit returns the soft limit in bytes on a machine whose memory has the given number of bytes. If
// the memory is unknown (0), it returns 0: no limit.
func (p Part) limit(machine int64) int64 {
	if machine == 0 {
		return 0
	}
	return max(machine/2/8*p.eighth, p.least)
}

// Cache returns the size, in bytes, that a cache should have: the argument most, or less on a small
// machine. The cache and its bookkeeping, an eighth of its size, must fit in half of the soft
// limit.
func Cache(most int64) int64 { return min(most, debug.SetMemoryLimit(-1)/2/9*8) }

// tuner sets GOGC after every garbage collection.
type tuner struct {
	room    uint64 // Part.room of this process
	percent int    // present value of GOGC; 0 before it is first set
}

// tune sets GOGC for the present live heap (see percent).
func (t *tuner) tune() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if next := percent(live[0].Value.Uint64(), t.room); next != t.percent {
		t.percent = next
		debug.SetGCPercent(next)
	}
}

// await arranges that tune is called after every garbage collection from now on.
func (t *tuner) await() {
	type marker struct{ _ *byte } // the pointer is needed: an object without one may share memory with others, and its finalizer may never run
	runtime.SetFinalizer(new(marker), func(*marker) {
		t.tune()
		t.await()
	})
}

// percent returns the value for GOGC (see the table in the package comment). The parameter live is
// the size of the live heap, and the parameter room the size that the whole heap may have (see
// Part.room), both in bytes.
func percent(live, room uint64) int {
	if live*(100+mostGarbage)/100 <= room {
		return mostGarbage
	}
	if live >= room {
		return leastGarbage
	}
	return int(max(room*100/live-100, leastGarbage))
}
