// Package memory limits the memory of the processes of a system on one machine. The live heaps
// of all processes together may take half of the machine's memory. How much garbage a process
// may hold depends on the size of its live heap.
//
// Two settings limit a Go process: GOMEMLIMIT and GOGC. GOMEMLIMIT is the soft limit. Half of the
// memory of the machine (or of its control group) is divided between two processes. The embedded
// object store gets one eighth of this half, and the main process seven eighths. A process comes near
// its soft limit only if its live heap is large, because otherwise GOGC keeps the garbage small. GOGC
// depends on the size of the live heap, and on a constant for each process that is called its room.
// While the live heap is at most half of the room, the live heap and the garbage together fit in it.
//
//	live heap       GOGC          heap with garbage, at most
//	up to room/4    300           room
//	room/4…room/2   300…100       room
//	more            100           twice the live heap
//
// So a crawl, whose live heap is small, takes the same memory on a machine of 24 GiB as on one
// of 2 GiB. A rebuild of a frontier of a million pages, whose live heap is large, collects
// garbage no more often than any Go program. The environment variables GOMEMLIMIT and GOGC take
// precedence.
package memory

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Part holds the memory limits of one of the processes of a system on one machine.
type Part struct {
	room   uint64 // size in bytes: while the live heap is at most half of it, live heap and garbage together fit in it
	eighth int64  // soft limit = memory of the machine / 2 × eighth / 8, but at least the field least
	least  int64  // lowest soft limit in bytes, however small the machine is
}

// The memory limits of the two processes of a system on one machine. They share half of the
// machine's memory: seven eighths of it are for Command, one eighth is for Store. On a small
// machine, each still gets the size least.
var (
	Command = Part{room: 144 << 20, eighth: 7, least: 160 << 20} // limits of the main process, which runs all functions
	Store   = Part{room: 48 << 20, eighth: 1, least: 64 << 20}   // limits of the embedded object store, whose libraries take 43 MB
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

// Cache returns the size in bytes that a cache should have in this process. This is the given
// maximum, or less on a small machine: the cache and its bookkeeping (an eighth of its size) must
// fit in half of the soft memory limit.
func Cache(most int64) int64 { return min(most, debug.SetMemoryLimit(-1)/2/9*8) }

// tuner sets GOGC after every garbage collection.
type tuner struct {
	room    uint64 // size in bytes within which live heap and garbage should stay (see Part.room)
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

// percent returns the value for GOGC by the table in the package comment. The arguments are the
// size of the live heap and the room (see Part.room), both in bytes.
func percent(live, room uint64) int {
	if live*(100+mostGarbage)/100 <= room {
		return mostGarbage
	}
	if live >= room {
		return leastGarbage
	}
	return int(max(room*100/live-100, leastGarbage))
}
