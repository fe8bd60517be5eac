package simulation

import "fmt"

// system is what a process talks to.
type system string

const (
	storage system = "storage"
	memory  system = "redis"
	queues  system = "queue"
	web     system = "web"
	timer   system = "timer"
)

// systems are those that may fail to answer.
var systems = []system{storage, memory, queues, web}

// fault is what befalls a call.
type fault int

const (
	none   fault = iota
	before       // it fails and does not happen
	after        // it happens, and the answer is lost
	death        // its process ends here, as by kill -9
)

// call is one thing that a process is about to do. The process waits until the
// world lets it.
type call struct {
	process *process
	system  system
	what    string // operation and key
	number  int    // among the calls to its system, from 1
	until   int64  // of a timer: when it ends, in nanoseconds
	answer  chan fault
}

func (c *call) String() string {
	return fmt.Sprintf("%s call %d of process %d (%s): %s", c.system, c.number, c.process.number, c.process.function, c.what)
}
