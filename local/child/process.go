// Package child runs other programs as children of this process. On Linux they end when this
// process ends. A Keeper starts a child again when it ends by itself.
package child

import (
	"os/exec"
	"runtime"
	"time"
)

// drain is the time for which the output of a child is read after the child's end. Without
// this limit, a process that the child has started could keep the output open for ever.
const drain = time.Second

// Process is a running child. It is safe for concurrent use.
type Process struct {
	cmd  *exec.Cmd
	said tail          // last bytes that the child printed, except to a stream that the caller has redirected
	done chan struct{} // closed when the child has ended
}

// Start starts a command as a child. On Linux the child is killed when this process ends, in
// whatever way, and Ctrl-C in the terminal does not reach the child. If cmd.Stdout or
// cmd.Stderr is nil, the last bytes that the child writes there are part of the text that End
// returns.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, done: make(chan struct{})}
	if cmd.Stdout == nil {
		cmd.Stdout = &p.said
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &p.said
	}
	cmd.WaitDelay = drain
	cmd.SysProcAttr = attributes()
	started := make(chan error)
	go func() {
		// The kernel treats the end of this thread as the end of the parent.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in ProcessState
			close(p.done)
		}
	}()
	return p, <-started
}

// PID returns the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed when the child has ended and its output has been
// read.
func (p *Process) Done() <-chan struct{} { return p.done }

// End waits until the child has ended. It returns a text with the child's exit status and
// last output, such as "exit status 1; it said: out of memory".
func (p *Process) End() string {
	<-p.done
	return p.cmd.ProcessState.String() + p.said.quote()
}

// Kill kills the child with SIGKILL and returns when it has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails only if the child has ended already
	<-p.done
}
