package system

import (
	"context"
	"fmt"
	"time"
)

const (
	// minRoom is the free disk space in bytes below which the system stops. In this space running
	// writes can still be finished.
	minRoom = 32 << 20
	// healthTick is the time between two checks of disk and servers.
	healthTick = time.Second
)

// Failed returns a channel that is closed when the system cannot go on: Err says why.
func (s *System) Failed() <-chan struct{} { return s.health.Done() }

// Err returns why the system cannot go on, nil while it can.
func (s *System) Err() error { return context.Cause(s.health) }

// helperServer is a server that the system has started: the embedded store or Redis.
type helperServer interface {
	Done() <-chan struct{} // closed when the server has ended and cannot be started again
	Err() error            // why the server has ended; nil while the channel of Done is open
}

// watchServer waits until a server has ended and cannot be started again. Then it stops the
// system: it closes the channel that Failed returns.
func (s *System) watchServer(ctx context.Context, kept helperServer) {
	select {
	case <-ctx.Done():
	case <-kept.Done():
		s.fail(fmt.Errorf("%w; start again to go on, nothing that was stored is lost", kept.Err()))
	}
}

// restarted returns a function to be called when the named server was started again. The
// function logs why the server had ended, and immediately starts a sweep, which rebuilds lost
// frontiers and finds work whose events were lost.
func (s *System) restarted(name string) func(error) {
	return func(why error) {
		s.Log.Warn("started again", "server", name, "ended", why)
		if err := s.sweep(context.Background()); err != nil {
			s.Log.Error("no sweep until the next clock", "error", err)
		}
	}
}

// watchRoom stops the system if the disk is almost full: it closes the channel that Failed returns.
func (s *System) watchRoom(ctx context.Context) error {
	err := s.checkRoom(ctx)
	if err != nil {
		s.fail(err)
	}
	return err
}

// checkRoom returns an error if the disk of the embedded store has less than minRoom bytes
// free. A remote store is not checked.
func (s *System) checkRoom(context.Context) error {
	if s.options.S3 != "" {
		return nil
	}
	room, err := s.room()
	if err == nil && room < minRoom {
		err = fmt.Errorf("the disk of %s is full: %d MiB are free, at least %d are needed; make room and start again, nothing that was stored is lost", s.options.Data, room>>20, minRoom>>20)
	}
	return err
}
