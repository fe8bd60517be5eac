// Package redis starts a Redis on a laptop: a redis-server as a child process if the
// program is installed, else one embedded in this process. Neither stores anything on
// disk, because everything in Redis can be rebuilt from the bucket.
package redis

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/bucketsearch/bucketsearch/local/child"
)

// Options say how to start.
type Options struct {
	Dir     string // working directory of a child
	Program string // redis-server; empty: the one on PATH, else the embedded Redis

	// Restarted, if not nil, is called each time a child that had ended by itself
	// answers again, at the same address and empty, with the reason of its end.
	Restarted func(why error)
}

// Server is a running Redis that listens on 127.0.0.1 only.
type Server struct {
	URL      string // redis://127.0.0.1:<port>/0
	Embedded bool
	keeper   *child.Keeper // nil when embedded
	stop     func()
}

// Start starts a Redis and returns when it answers. A child that ends by itself
// is started again; it dies with this process, also when that is killed (on
// Linux; elsewhere only by Close).
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

// Done is closed when the server has ended for good, and after Close. An embedded server
// ends only with this process.
func (s *Server) Done() <-chan struct{} {
	if s.keeper == nil {
		return nil
	}
	return s.keeper.Done()
}

// Err returns why the server has ended; nil while it runs.
func (s *Server) Err() error {
	if s.keeper == nil || s.keeper.Err() == nil {
		return nil
	}
	return fmt.Errorf("the redis of this system has ended: %w", s.keeper.Err())
}

// Close stops the server and waits until it has ended. It may be called once.
func (s *Server) Close() { s.stop() }

func url(address string) string { return "redis://" + address + "/0" }
