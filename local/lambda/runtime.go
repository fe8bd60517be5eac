package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// maxPayload is the maximum size of an event or a response, in bytes, as in Lambda.
const maxPayload = 6 << 20

// Function describes a Lambda function: its binary and how to run it.
type Function struct {
	Name        string
	Path        string        // path of the binary, which must call lambda.Start of aws-lambda-go
	Env         []string      // environment of the processes, without the variables that Lambda sets
	Concurrency int           // maximum number of concurrent invocations, each in its own process; at least 1
	Timeout     time.Duration // maximum duration of an invocation, including the start of its process
	Output      io.Writer     // writer that gets the output of the processes, in whole lines
}

// Runtime runs one Lambda function in processes that it starts and ends. It is safe for
// concurrent use.
type Runtime struct {
	function Function
	address  string
	server   *http.Server
	slots    chan struct{} // semaphore with one element for each running invocation
	requests atomic.Int64  // number of invocations so far
	output   sync.Mutex    // held while writing to function.Output

	mu        sync.Mutex          // protects the fields below
	processes map[string]*process // running processes by name, such as p1, the first element of their URL paths
	idle      []*process          // processes without an invocation; the last one was used most recently
	spawned   int                 // number of processes started so far
	closed    bool
}

// Start serves the function's runtime API on loopback. It starts no process: an invocation
// starts one if none is idle. Processes end at Close and, on Linux, when this process ends.
// ctx limits Start only.
func Start(ctx context.Context, f Function) (*Runtime, error) {
	path, err := exec.LookPath(f.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot run function %s: %w", f.Name, err)
	}
	f.Path = path
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot serve the runtime API of function %s: %w", f.Name, err)
	}
	r := &Runtime{
		function:  f,
		address:   listener.Addr().String(),
		slots:     make(chan struct{}, f.Concurrency),
		processes: map[string]*process{},
	}
	r.server = &http.Server{Handler: r.api(), ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(listener) }() // always ends with ErrServerClosed
	return r, nil
}

// Invoke invokes the function with an event of at most 6 MiB of JSON, and returns its response. If
// the function returns an error or panics, Invoke fails with the function's message. It also fails
// if the process cannot start or dies. At the function's Timeout, or when ctx ends, Invoke kills
// the process and fails.
func (r *Runtime) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	response, err := r.invoke(ctx, payload)
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", r.function.Name, err)
	}
	return response, nil
}

// Handle invokes the function with messages of a queue; it is a queue.Function.
func (r *Runtime) Handle(ctx context.Context, content events.SQSEvent) (events.SQSEventResponse, error) {
	var response events.SQSEventResponse
	payload, err := json.Marshal(content)
	if err != nil {
		return response, fmt.Errorf("function %s: cannot write the event: %w", r.function.Name, err)
	}
	answer, err := r.Invoke(ctx, payload)
	if err != nil {
		return response, err
	}
	if err := json.Unmarshal(answer, &response); err != nil {
		return response, fmt.Errorf("function %s: cannot read the response: %w", r.function.Name, err)
	}
	return response, nil
}

// invoke waits until fewer than Concurrency invocations run, and then invokes the function.
// If the idle process that it chose turns out to be dead, it takes another one.
func (r *Runtime) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	if len(payload) > maxPayload {
		return nil, fmt.Errorf("an event of %d bytes is over the limit of %d", len(payload), maxPayload)
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.function.Timeout,
		fmt.Errorf("killed, since it timed out after %v", r.function.Timeout))
	defer cancel()
	deadline, _ := ctx.Deadline()
	for {
		p, fresh, err := r.take()
		if err != nil {
			return nil, err
		}
		call := &invocation{
			id:       r.function.Name + "-" + strconv.FormatInt(r.requests.Add(1), 10),
			payload:  payload,
			deadline: deadline,
			result:   make(chan result, 1),
		}
		response, err := p.run(ctx, call)
		switch {
		case !p.isDead():
			r.giveBack(p)
		case errors.Is(err, errNotTaken) && !fresh:
			continue // the process died while it was idle
		}
		return response, err
	}
}

// take returns an idle process or, if there is none, a new one. fresh is true if it is new.
func (r *Runtime) take() (p *process, fresh bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.idle) > 0 {
		last := len(r.idle) - 1
		p, r.idle = r.idle[last], r.idle[:last]
		if !p.isDead() {
			return p, false, nil
		}
	}
	p, err = r.spawn()
	return p, true, err
}

// print writes whole lines to function.Output, so that lines of several processes do not mix.
func (r *Runtime) print(lines []byte) {
	r.output.Lock()
	defer r.output.Unlock()
	_, _ = r.function.Output.Write(lines) // a log that fails stops no function
}

func (r *Runtime) giveBack(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, p)
}

// KillAll kills all processes with SIGKILL, waits until they have ended, and returns their
// number.
func (r *Runtime) KillAll() int {
	running := r.running()
	for _, p := range running {
		p.kill()
	}
	return len(running)
}

// Close kills all processes and stops the runtime API. Invocations fail from then on.
func (r *Runtime) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.KillAll()
	return r.server.Close()
}

func (r *Runtime) running() []*process {
	r.mu.Lock()
	defer r.mu.Unlock()
	running := make([]*process, 0, len(r.processes))
	for _, p := range r.processes {
		running = append(running, p)
	}
	return running
}
