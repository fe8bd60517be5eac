package system

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

const (
	// minRoom is the room on the disk with which a system goes on: enough for
	// what is being written to be finished.
	minRoom = 32 << 20
	// healthTick is how often what the system stands on is looked at.
	healthTick = time.Second
)

// Failed is closed when the system cannot go on, for the reason in Err.
func (s *System) Failed() <-chan struct{} { return s.health.Done() }

// Err returns why the system cannot go on, nil while it can.
func (s *System) Err() error { return context.Cause(s.health) }

// watchStore ends the system when the embedded store has ended by itself.
func (s *System) watchStore(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.store.done():
		s.fail(fmt.Errorf("%w; start again to go on, nothing that was stored is lost", s.store.server.Err()))
	}
}

// watchRedis ends the system when the Redis that it started has ended by
// itself. One elsewhere may come back.
func (s *System) watchRedis(ctx context.Context) error {
	if s.redis == nil {
		return nil
	}
	err := s.Redis.Ping(ctx).Err()
	if errors.Is(err, syscall.ECONNREFUSED) {
		s.fail(fmt.Errorf("the redis of this system has ended: %w; start again to go on, nothing is lost", err))
	}
	return err
}

// watchRoom ends the system when the disk is about to be full.
func (s *System) watchRoom(ctx context.Context) error {
	err := s.checkRoom(ctx)
	if err != nil {
		s.fail(err)
	}
	return err
}

// checkRoom fails when the disk of the embedded store is about to be full.
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
