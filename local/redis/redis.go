// Package redis gives a laptop its Redis: a redis-server as a child process
// where the program is installed, else one embedded in this process. Neither
// keeps anything on disk, because Redis holds nothing that cannot be rebuilt
// from the bucket.
package redis

import (
	"context"
	"fmt"
	"os/exec"
)

// Options say how to start.
type Options struct {
	Dir     string // working directory of a child
	Program string // redis-server; empty: the one on PATH, else the embedded Redis
}

// Server is a running Redis that listens on 127.0.0.1 only.
type Server struct {
	URL      string // redis://127.0.0.1:<port>/0
	Embedded bool
	stop     func()
}

// Start starts a Redis and returns when it answers. A child dies with this
// process, also when that is killed (on Linux; elsewhere only by Close).
func Start(ctx context.Context, o Options) (*Server, error) {
	program := o.Program
	if program == "" {
		found, err := exec.LookPath("redis-server")
		if err != nil {
			return startEmbedded()
		}
		program = found
	}
	server, err := startChild(ctx, program, o.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", program, err)
	}
	return server, nil
}

// Close stops the server and waits until it has ended. It may be called once.
func (s *Server) Close() { s.stop() }

func url(address string) string { return "redis://" + address + "/0" }
