package system

import (
	"context"
	"fmt"
	"time"
)

const (
	// minRoom is the free disk space below which the system stops: enough to finish
	// what is being written.
	minRoom = 32 << 20
	// healthTick is the time between two checks of disk and servers.
	healthTick = time.Second
)

// Failed is closed when the system cannot go on, for the reason in Err.
func (s *System) Failed() <-chan struct{} { return s.health.Done() }

// Err returns why the system cannot go on, nil while it can.
func (s *System) Err() error { return context.Cause(s.health) }

// helperServer is a server that the system has started and keeps running.
type helperServer interface {
	Done() <-chan struct{}
	Err() error
}

// watchServer ends the system when one of its servers has ended for good.
func (s *System) watchServer(ctx context.Context, kept helperServer) {
	select {
	case <-ctx.Done():
	case <-kept.Done():
		s.fail(fmt.Errorf("%w; start again to go on, nothing that was stored is lost", kept.Err()))
	}
}

// restarted returns the callback for a server that serves again after its end: the sweep
// rebuilds what was lost with it at once.
func (s *System) restarted(name string) func(error) {
	return func(why error) {
		s.Log.Warn("started again", "server", name, "ended", why)
		if err := s.sweep(context.Background()); err != nil {
			s.Log.Error("no sweep until the next clock", "error", err)
		}
	}
}

// watchRoom ends the system when the disk is almost full.
func (s *System) watchRoom(ctx context.Context) error {
	err := s.checkRoom(ctx)
	if err != nil {
		s.fail(err)
	}
	return err
}

// checkRoom returns an error when the disk of the embedded store is almost full.
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
