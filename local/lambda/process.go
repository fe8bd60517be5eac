package lambda

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bucketsearch/bucketsearch/local/child"
)

// invocation is one invocation of the function, with its event.
type invocation struct {
	id       string
	payload  []byte // the event as JSON
	deadline time.Time
	taken    atomic.Bool // whether a process has received the event
	result   chan result // passes the result to the caller of the invocation; buffer of 1
}

// result is the result of an invocation: a response or an error.
type result struct {
	response []byte
	err      error
}

// errNotTaken means that a process died before it received its event. So the event can be given to
// another process.
var errNotTaken = errors.New("the process died before it asked for an event")

// process is one running copy of the function's binary.
type process struct {
	child *child.Process
	work  chan *invocation // passes the next invocation to the process; buffer of 1
	dead  chan struct{}    // closed when the process has ended and is no longer in Runtime.processes

	mu        sync.Mutex  // protects the fields below
	current   *invocation // invocation that the process handles; nil if it is idle
	initError string      // error that the process reported instead of starting; "" if none
}

// spawn starts a new process of the function. The caller holds r.mu.
func (r *Runtime) spawn() (*process, error) {
	if r.closed {
		return nil, errors.New("the runtime is closed")
	}
	r.spawned++
	id := "p" + strconv.Itoa(r.spawned)
	output := &child.Lines{Each: r.print}
	cmd := exec.Command(r.function.Path)
	cmd.Env = append(append([]string(nil), r.function.Env...),
		"AWS_LAMBDA_RUNTIME_API="+r.address+"/"+id,
		"AWS_LAMBDA_FUNCTION_NAME="+r.function.Name,
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
	)
	cmd.Stdout, cmd.Stderr = output, output
	started, err := child.Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", r.function.Path, err)
	}
	p := &process{child: started, work: make(chan *invocation, 1), dead: make(chan struct{})}
	r.processes[id] = p
	go func() {
		<-started.Done()
		output.Flush()
		r.mu.Lock()
		delete(r.processes, id)
		r.mu.Unlock()
		close(p.dead)
	}()
	return p, nil
}

// run gives the process an invocation and waits for the result. If ctx ends first, it kills
// the process. It returns errNotTaken if the process died before it received the event.
func (p *process) run(ctx context.Context, call *invocation) ([]byte, error) {
	p.work <- call
	select {
	case r := <-call.result:
		return r.response, r.err
	case <-ctx.Done():
		p.kill()
		return nil, context.Cause(ctx)
	case <-p.dead:
	}
	select {
	case r := <-call.result: // the process died after it had sent the result
		return r.response, r.err
	default:
	}
	if call.taken.Load() {
		return nil, fmt.Errorf("the process died in the middle of an invocation: %s", p.child.End())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.initError != "" {
		return nil, fmt.Errorf("%w: %s: %s", errNotTaken, p.child.End(), p.initError)
	}
	return nil, fmt.Errorf("%w: %s", errNotTaken, p.child.End())
}

// kill kills the process and returns when it has ended.
func (p *process) kill() {
	p.child.Kill()
	<-p.dead
}

func (p *process) isDead() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// begin records that the process has received the event of an invocation. This is then the
// current invocation of the process.
func (p *process) begin(call *invocation) {
	call.taken.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = call
}

// settle ends the current invocation of the process with a result and returns true. If the
// current invocation has another id, or there is none, it does nothing and returns false.
func (p *process) settle(id string, r result) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == nil || p.current.id != id {
		return false
	}
	p.current.result <- r
	p.current = nil
	return true
}
