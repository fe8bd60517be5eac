// Package memory keeps the processes of one machine within a share of its memory, and
// their garbage small while they are small.
//
// Two settings limit a Go process. Its soft limit is a part of half of the machine's memory
// (or its control group's): an eighth of that half for the embedded object store, the
// rest for the process of the command. Only live memory can reach that limit. Garbage is
// limited by GOGC, which depends on the live heap; room is a parameter of Tune:
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

// Part is the role of a process.
type Part struct {
	room   uint64 // bytes of heap that garbage may fill up
	eighth int64  // eighths of the share that are its soft limit
	least  int64  // bytes of its soft limit, however small the machine
}

// The parts of a system on one machine.
var (
	Command = Part{room: 144 << 20, eighth: 7, least: 160 << 20}
	Store   = Part{room: 48 << 20, eighth: 1, least: 64 << 20} // 43 MB are its libraries', the rest a few requests
)

// Bounds of GOGC, in percent of the live heap.
const (
	mostGarbage  = 300
	leastGarbage = 100
)

// Tune limits this process. Call it once.
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

// limit returns the soft limit on a machine of this size; 0 means none, if the size is
// unknown.
func (p Part) limit(machine int64) int64 {
	if machine == 0 {
		return 0
	}
	return max(machine/2/8*p.eighth, p.least)
}

// Cache returns the size of a cache that wants most bytes: together with an eighth for its
// bookkeeping at most half of the soft limit.
func Cache(most int64) int64 { return min(most, debug.SetMemoryLimit(-1)/2/9*8) }

// tuner sets GOGC after every collection.
type tuner struct {
	room    uint64
	percent int
}

func (t *tuner) tune() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if next := percent(live[0].Value.Uint64(), t.room); next != t.percent {
		t.percent = next
		debug.SetGCPercent(next)
	}
}

// await schedules tune after the next collection.
func (t *tuner) await() {
	type marker struct{ _ *byte } // with a pointer, or it might share its memory with others
	runtime.SetFinalizer(new(marker), func(*marker) {
		t.tune()
		t.await()
	})
}

// percent returns GOGC for a live heap.
func percent(live, room uint64) int {
	if live*(100+mostGarbage)/100 <= room {
		return mostGarbage
	}
	if live >= room {
		return leastGarbage
	}
	return int(max(room*100/live-100, leastGarbage))
}
