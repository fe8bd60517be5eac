package faultblob

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// Each runs a scenario again and again, failing its first call, then its
// second, and so on until it ends before the call that was to fail: each time
// as a test of its own: Before, and then, of the calls that write, After. The scenario builds
// its own Bucket from decide, starts from nothing every time, and checks that
// it left things right. Under the race detector, which is for races and takes
// its time, it fails one of [stride] calls.
func Each(t *testing.T, scenario func(t *testing.T, decide func(Call) Fault)) {
	for _, fault := range []Fault{Before, After} {
		for number, failed := int64(1), true; failed; number += stride {
			t.Run(fmt.Sprintf("%s-%d", fault, number), func(t *testing.T) {
				var reached atomic.Bool
				var writes atomic.Int64
				scenario(t, func(c Call) Fault {
					this := c.Number
					if fault == After {
						if c.Op == Get || c.Op == Head || c.Op == List { // as if it had failed before
							return None
						}
						this = writes.Add(1)
					}
					if this != number {
						return None
					}
					reached.Store(true)
					t.Logf("fault %s %s %s", fault, c.Op, c.Key)
					return fault
				})
				failed = reached.Load() && !t.Failed()
			})
		}
	}
}
