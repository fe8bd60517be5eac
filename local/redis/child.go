package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/local/child"
)

const (
	portAttempts = 5                    // maximum number of ports to try: another program may take a free port first
	patience     = 10 * time.Second     // maximum time from the start of a child until it answers
	pause        = 2 * time.Millisecond // time between two checks whether the child answers
)

// errPortTaken means that another program took the port after freeAddress had found it free.
var errPortTaken = errors.New("port was taken meanwhile")

// startChild starts the program redis-server as a child on a free port, and keeps it running.
func startChild(ctx context.Context, program string, o Options) (*Server, error) {
	var err error
	for range portAttempts {
		var address string
		if address, err = freeAddress(); err != nil {
			return nil, err
		}
		var keeper *child.Keeper
		keeper, err = child.Keep(ctx, child.Child{
			Start: func(ctx context.Context) (*child.Process, error) {
				return startAt(ctx, program, o.Dir, address)
			},
			Restarted: o.Restarted,
		})
		if err == nil {
			return &Server{URL: url(address), keeper: keeper, stop: keeper.Close}, nil
		}
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return nil, err
}

// freeAddress returns an address of 127.0.0.1 with a port that is free now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("cannot find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// startAt starts a child that listens at an address, and returns when it answers. It fails
// with errPortTaken if the port is taken.
func startAt(ctx context.Context, program, dir, address string) (*child.Process, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "--bind", host, "--port", port, "--save", "", "--appendonly", "no", "--loglevel", "warning")
	cmd.Dir = dir
	p, err := child.Start(cmd)
	if err != nil {
		return nil, err
	}
	if err := ready(ctx, address, p); err != nil {
		p.Kill() // Redis has no data to save
		if strings.Contains(p.End(), "Address already in use") {
			err = errPortTaken
		}
		return nil, fmt.Errorf("%w: %s", err, p.End())
	}
	return p, nil
}

// ready waits until the child answers at its address. It checks the process id in the
// answer, because another server may have taken the port.
func ready(ctx context.Context, address string, p *child.Process) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1, DialerRetries: 1})
	defer client.Close()
	own := "process_id:" + strconv.Itoa(p.PID()) + "\r\n"
	for {
		info, err := client.Info(ctx, "server").Result()
		if err == nil && strings.Contains(info, own) {
			return nil
		}
		select {
		case <-p.Done():
			return errors.New("it ended at once")
		case <-ctx.Done():
			return fmt.Errorf("it did not answer on %s: %w", address, ctx.Err())
		case <-time.After(pause):
		}
	}
}
