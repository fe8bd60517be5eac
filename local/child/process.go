// Package child runs other programs as children of this one: started, ended
// with their parent, and started again when they have ended by themselves.
package child

import (
	"os/exec"
	"runtime"
	"time"
)

// drain is the time for which a dead child's output is read: a process that the child
// started may hold it open.
const drain = time.Second

// Process is a running child. It is safe for concurrent use.
type Process struct {
	cmd  *exec.Cmd
	said tail
	done chan struct{}
}

// Start starts a command whose child dies with this process, however this one dies (on
// Linux), and gets no Ctrl-C from the terminal: its parent ends it. End quotes the
// output of the child, if its Stdout or Stderr is nil.
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

// Done is closed when the child has ended and all its output was taken.
func (p *Process) Done() <-chan struct{} { return p.done }

// End waits for the child's end and describes it with the child's last output, such as
// "exit status 1; it said: out of memory".
func (p *Process) End() string {
	<-p.done
	return p.cmd.ProcessState.String() + p.said.quote()
}

// Kill ends the child as kill -9 does, and returns when it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails only for one that has ended already
	<-p.done
}
