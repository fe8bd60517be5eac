package memory

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func nothing(string) string { return "" }

// Tune does not change values that the environment sets, and a cache takes at most half of the
// soft memory limit.
func TestTune(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	share := debug.SetGCPercent(100)
	t.Cleanup(func() {
		debug.SetMemoryLimit(before)
		debug.SetGCPercent(share)
	})
	Tune(Command, func(name string) string { return map[string]string{"GOMEMLIMIT": "1GiB", "GOGC": "100"}[name] })
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("limit %d, want %d as before", got, before)
	}
	debug.SetMemoryLimit(90 << 20)
	if got := Cache(192 << 20); got*9/8 > 45<<20 || got < 39<<20 {
		t.Errorf("a cache of %d bytes, want 40 MiB", got)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if got := Cache(192 << 20); got != 192<<20 {
		t.Errorf("a cache of %d bytes, want all that it likes", got)
	}
	Tune(Command, nothing)
	if want := Command.limit(machineBytes(os.DirFS("/"))); want > 0 && debug.SetMemoryLimit(-1) != want {
		t.Errorf("limit %d, want %d", debug.SetMemoryLimit(-1), want)
	}
}

// GOGC follows the size of the live heap.
func TestTunerFollows(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	tuned := &tuner{room: 1} // every live heap is larger than this room
	tuned.await()
	debug.SetGCPercent(250)
	for until := time.Now().Add(time.Minute); ; runtime.Gosched() {
		runtime.GC()
		now := debug.SetGCPercent(250)
		if now == leastGarbage {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("GOGC is %d, want %d", now, leastGarbage)
		}
	}
}
