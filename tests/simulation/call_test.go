package simulation

import "fmt"

// system names what a process calls outside of itself: the storage, Redis, a queue, a web site
// or a timer.
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

// call is one call that a process is about to make to a system. The process waits until the
// world (the simulation) lets the call happen.
type call struct {
	process *process
	system  system
	what    string // operation and key of the call
	number  int    // 1 for the first call of any process to this system, 2 for the second, and so on
	until   int64  // if the call is a timer: the time at which it ends, in nanoseconds since 1970
	answer  chan fault
}

func (c *call) String() string {
	return fmt.Sprintf("%s call %d of process %d (%s): %s", c.system, c.number, c.process.number, c.process.function, c.what)
}
