package s3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/local/child"
)

// startTimeout is the maximum time from the start of a child until it serves.
const startTimeout = 15 * time.Second

// Command is the command line of the child process, whose program must call Child.
type Command struct {
	Path string
	Args []string // arguments, without the program's name
	Env  []string // environment variables; nil: those of this process
}

// Events are callbacks that tell the caller of Start what happens in the child.
type Events struct {
	// Stored is called after an object was stored and can be read. There is one call at a time. The
	// child may wait until the call returns, so Stored must not send requests to the child. If the
	// child is killed just after it has stored an object, Stored may never be called for this object.
	Stored func(key string, size int64)
	// Restarted, if not nil, is called each time the child serves again after a restart. Its
	// argument says how the child had ended.
	Restarted func(why error)
}

// Server is the handle of an S3 server that runs in a child process.
type Server struct {
	Endpoint string // URL of the server: http://host:port
	keeper   *child.Keeper
}

// Start starts a server as a child process and waits until it serves. ctx limits Start only.
// A child that ends by itself is started again at the same endpoint.
func Start(ctx context.Context, c Command, o Options, events Events) (*Server, error) {
	s := new(Server)
	var err error
	s.keeper, err = child.Keep(ctx, child.Child{
		Start: func(ctx context.Context) (*child.Process, error) {
			p, endpoint, err := startChild(ctx, c, o, events.Stored)
			if s.Endpoint == "" {
				s.Endpoint, o.Listen = endpoint, strings.TrimPrefix(endpoint, "http://")
			}
			return p, err
		},
		Restarted: events.Restarted,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// startChild starts one child, and returns it with its endpoint once it serves. It calls the
// callback with the key and the size of each object that the child stores.
func startChild(ctx context.Context, c Command, o Options, stored func(string, int64)) (*child.Process, string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = c.Env
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", fmt.Errorf("cannot start the object store: %w", err)
	}
	ready := make(chan string, 1)
	cmd.Stdout = &child.Lines{Each: func(lines []byte) { tell(lines, ready, stored) }}
	p, err := child.Start(cmd)
	if err != nil {
		return nil, "", fmt.Errorf("cannot start the object store: %w", err)
	}
	_ = json.NewEncoder(stdin).Encode(o) // fails if the process has died, which is reported below
	select {
	case endpoint := <-ready:
		return p, endpoint, nil
	case <-p.Done():
		return nil, "", errors.New("object store ended: " + p.End())
	case <-ctx.Done():
		p.Kill()
		return nil, "", fmt.Errorf("object store in %s did not come up: %w: %s", o.Dir, ctx.Err(), p.End())
	}
}

// tell reads lines of the child's output. It passes on the server's endpoint to the channel, and
// the key and size of each stored object to the callback. It ignores lines that are no messages.
func tell(lines []byte, ready chan<- string, stored func(string, int64)) {
	for line := range bytes.Lines(lines) {
		var m message
		switch err := json.Unmarshal(line, &m); {
		case err != nil:
		case m.Ready != "":
			ready <- m.Ready
		case m.Key != "":
			stored(m.Key, m.Size)
		}
	}
}

// Done returns a channel that is closed when the child has ended for good: it could not be started
// again, or Close was called.
func (s *Server) Done() <-chan struct{} { return s.keeper.Done() }

// Err returns why the child has ended for good; nil if it has not.
func (s *Server) Err() error {
	if err := s.keeper.Err(); err != nil {
		return fmt.Errorf("object store ended: %w", err)
	}
	return nil
}

// Close kills the child and waits until it has ended. Running requests are cut off; every
// stored object stays.
func (s *Server) Close() { s.keeper.Close() }
