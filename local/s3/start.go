package s3

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync/atomic"
	"time"
)

// How long a server may take to come up, and to end when told to.
const (
	startTimeout = 15 * time.Second
	closeTimeout = 5 * time.Second
)

// Command starts a process that calls Child.
type Command struct {
	Path string
	Args []string // without the program's name
	Env  []string // the environment of this process if nil
}

// Server is the parent's side of a running server.
type Server struct {
	Endpoint string // http://host:port

	command *exec.Cmd
	stdin   io.Closer
	stderr  tail
	closing atomic.Bool
	done    chan struct{}
	err     error // why it ended; set before done is closed
}

// Start starts a server and waits until it serves. ctx bounds the start alone;
// Close ends the server. onPut is called for every object stored, in turn and
// after it can be read; while it runs the server waits, so it must not wait for
// the server.
func Start(ctx context.Context, c Command, o Options, onPut func(key string, size int64)) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s := &Server{command: exec.Command(c.Path, c.Args...), done: make(chan struct{})}
	s.command.Env = c.Env
	s.command.Stderr = &s.stderr
	stdin, errIn := s.command.StdinPipe()
	stdout, errOut := s.command.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		return nil, fmt.Errorf("cannot start the object store: %w", err)
	}
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the object store: %w", err)
	}
	s.stdin = stdin
	ready := make(chan string, 1)
	go s.watch(stdout, ready, onPut)
	_ = json.NewEncoder(stdin).Encode(o) // fails if the process has died, of which watch learns
	select {
	case s.Endpoint = <-ready:
		return s, nil
	case <-s.done:
		return nil, s.err
	case <-ctx.Done():
		_ = s.Close()
		return nil, fmt.Errorf("object store in %s did not come up: %w%s", o.Dir, ctx.Err(), s.stderr.quote())
	}
}

// watch reads what the child writes until it ends. Lines that are no messages
// are none of ours.
func (s *Server) watch(stdout io.Reader, ready chan<- string, onPut func(string, int64)) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		var m message
		switch err := json.Unmarshal(lines.Bytes(), &m); {
		case err != nil:
		case m.Ready != "":
			ready <- m.Ready
		case m.Key != "":
			onPut(m.Key, m.Size)
		}
	}
	_, _ = io.Copy(io.Discard, stdout)
	if err := s.command.Wait(); !s.closing.Load() {
		if err == nil {
			err = errors.New("it gave no reason")
		}
		s.err = fmt.Errorf("object store ended: %w%s", err, s.stderr.quote())
	}
	close(s.done)
}

// Done is closed when the server has ended, by Close or by itself.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns nil while the server runs and after Close, else why it ended.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Close ends the server and waits until it is gone. Requests under way are cut
// off; every object stored is kept.
func (s *Server) Close() error {
	s.closing.Store(true)
	_ = s.stdin.Close()
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-s.done:
		return s.err
	case <-timer.C:
	}
	if err := s.command.Process.Kill(); err != nil {
		return fmt.Errorf("cannot end the object store: %w", err)
	}
	<-s.done
	return s.err
}
