package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	portAttempts = 5                    // ports tried when others take them first
	patience     = 10 * time.Second     // until a child answers
	pause        = 2 * time.Millisecond // between two questions whether it does
)

var errPortTaken = errors.New("port was taken meanwhile")

func startChild(ctx context.Context, program, dir string) (*Server, error) {
	var err error
	for range portAttempts {
		var address string
		if address, err = freeAddress(); err != nil {
			return nil, err
		}
		var s *Server
		if s, err = startAt(ctx, program, dir, address); !errors.Is(err, errPortTaken) {
			return s, err
		}
	}
	return nil, err
}

// freeAddress returns an address of this machine that was free just now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("cannot find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func startAt(ctx context.Context, program, dir, address string) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	output := &tail{}
	cmd := exec.Command(program, "--bind", host, "--port", port, "--save", "", "--appendonly", "no")
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = dieWithParent()
	cmd.WaitDelay = time.Second // if a child of its own keeps the output open
	ended, err := run(cmd)
	if err != nil {
		return nil, err
	}
	stop := func() {
		_ = cmd.Process.Kill() // there is nothing that it should save
		<-ended
	}
	if err := ready(ctx, address, cmd.Process.Pid, ended); err != nil {
		stop()
		if strings.Contains(output.String(), "Address already in use") {
			err = errPortTaken
		}
		return nil, fmt.Errorf("%w; its last words:\n%s", err, output)
	}
	return &Server{URL: url(address), stop: stop}, nil
}

// run starts a command and waits for its end, which closes the channel. Both
// happen on one thread of its own, because a child that is to die with its
// parent dies with the thread that started it.
func run(cmd *exec.Cmd) (<-chan struct{}, error) {
	started, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended tells its output
		}
	}()
	return ended, <-started
}

// ready waits until the child answers, and not some other server that took
// the port.
func ready(ctx context.Context, address string, pid int, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1, DialerRetries: 1})
	defer client.Close()
	mine := "process_id:" + strconv.Itoa(pid) + "\r\n"
	for {
		info, err := client.Info(ctx, "server").Result()
		if err == nil && strings.Contains(info, mine) {
			return nil
		}
		select {
		case <-ended:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return fmt.Errorf("it did not answer on %s: %w", address, ctx.Err())
		case <-time.After(pause):
		}
	}
}
