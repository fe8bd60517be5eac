// Package redis starts a Redis on a laptop: redis-server as a child process if that program is
// installed, otherwise miniredis in this process. Neither writes to disk, because everything in
// Redis can be rebuilt from the bucket.
package redis

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/bucketsearch/bucketsearch/local/child"
)

// Options are the settings of a Redis.
type Options struct {
	Dir     string // working directory of the child
	Program string // path of redis-server; "": the one in PATH or, if there is none, the embedded Redis

	// Restarted, if not nil, is called each time the child answers again after a restart, at the
	// same address and without data. Its argument says how the child had ended.
	Restarted func(why error)
}

// Server is a running Redis that listens on 127.0.0.1 only.
type Server struct {
	URL      string        // URL of the server, redis://127.0.0.1:<port>/0
	Embedded bool          // true: the server runs in this process; false: it is a child process
	keeper   *child.Keeper // keeps the child running; nil if Embedded is true
	stop     func()
}

// Start starts a Redis and returns when it answers. A child that ends by itself is started
// again. The child ends at Close and, on Linux, also when this process ends or is killed.
func Start(ctx context.Context, o Options) (*Server, error) {
	program := o.Program
	if program == "" {
		found, err := exec.LookPath("redis-server")
		if err != nil {
			return startEmbedded()
		}
		program = found
	}
	server, err := startChild(ctx, program, o)
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", program, err)
	}
	return server, nil
}

// Done returns a channel that is closed when redis-server has ended for good: it could not be
// started again, or Close was called. For an embedded Redis, which runs in this process and cannot
// end by itself, Done returns nil.
func (s *Server) Done() <-chan struct{} {
	if s.keeper == nil {
		return nil
	}
	return s.keeper.Done()
}

// Err returns why the child has ended for good; nil if it has not.
func (s *Server) Err() error {
	if s.keeper == nil || s.keeper.Err() == nil {
		return nil
	}
	return fmt.Errorf("the redis of this system has ended: %w", s.keeper.Err())
}

// Close stops the server and waits until it has ended. It may be called once.
func (s *Server) Close() { s.stop() }

func url(address string) string { return "redis://" + address + "/0" }
