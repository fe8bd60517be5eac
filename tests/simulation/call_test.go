package simulation

import "fmt"

// system names a system outside of a process, which the process calls.
type system string

const (
	storage system = "storage"
	memory  system = "redis"
	queues  system = "queue"
	web     system = "web"
	timer   system = "timer"
)

// systems are the systems whose calls may fail.
var systems = []system{storage, memory, queues, web}

// fault says in which way a call fails.
type fault int

const (
	none   fault = iota
	before       // the call fails and has no effect
	after        // the call has its effect, but the answer is lost
	death        // the process is killed at this call, as by kill -9
)

// call is one call that a process is about to make. The process waits until the world releases
// it.
type call struct {
	process *process
	system  system
	what    string // operation and key of the call
	number  int    // number of the call among the calls to its system, from 1
	until   int64  // for a timer: its end, in nanoseconds since 1970
	answer  chan fault
}

func (c *call) String() string {
	return fmt.Sprintf("%s call %d of process %d (%s): %s", c.system, c.number, c.process.number, c.process.function, c.what)
}
