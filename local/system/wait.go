package system

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// Crawling returns the state of the crawl in a few words (see Progress.Text); "" if Wait waits for no
// crawl.
func (s *System) Crawling() string {
	p := s.latest.Load()
	if p == nil {
		return ""
	}
	return p.Text(time.Now())
}

// look is the time between two checks for the end of a crawl.
const look = 100 * time.Millisecond

// missedTick is the minimum time between two sweeps that Wait starts because of Progress.Missed. This
// field says that a collection may lack pages that were requested for other collections. A sweep
// finds these pages. Wait starts it only when no URL waits to be requested or is being requested.
const missedTick = time.Second

// ErrPaused means that a crawl is paused until a person resumes it or a limit is no longer
// reached.
var ErrPaused = errors.New("the crawl is paused")

// Wait waits for the end of the crawl. It returns nil when everything is crawled, packed and
// indexed, and an error when the system cannot go on or ctx ends. If impatient is true, it also
// returns an error when the crawl cannot go on without a person: a partition.Fault (lost or damaged
// manifests or books), or ErrPaused once the running work is finished.
//
// Wait checks the progress again and again, and calls report with the result of each check. If the
// check succeeded, but the last attempt to store an object failed, report gets the error of that
// attempt. Neither a failed check nor a failed attempt to store ends Wait, because an object store or
// a Redis that is down may come back.
func (s *System) Wait(ctx context.Context, impatient bool, report func(Progress, error)) error {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	var w waitState
	defer s.latest.Store(nil)
	for {
		p, err := s.Progress(ctx)
		if err == nil {
			s.latest.Store(&p)
		}
		if err == nil && p.Done() {
			report(p, nil)
			return nil
		}
		if err == nil && p.Paused != "" && impatient && p.Leased == 0 && p.Settled() {
			report(p, nil)
			return fmt.Errorf("%w: %s", ErrPaused, p.Paused)
		}
		fault := s.stuck(err)
		if fault != nil && impatient {
			return fault
		}
		p.Failing = s.Failing()
		if err = w.help(ctx, s, p, err); err == nil {
			err = s.store.bucket.trouble()
		}
		if fault != nil {
			err = fault
			if !slices.Contains(p.Failing, fault.Error()) {
				p.Failing = append(p.Failing, fault.Error())
			}
		}
		report(p, err)
		w.log(s, err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Failed():
			return s.Err()
		case <-ticker.C:
		}
	}
}

// waitState holds the data that a call of Wait keeps from one check of the crawl to the next.
type waitState struct {
	// other is true if the last check did not fail with frontier.ErrNotBuilt. When a check fails with
	// this error, a sweep is started only if other is true. So many such failures in a row start only
	// one sweep.
	other   bool
	flushed bool      // whether the function pack was told to pack the last batches
	joined  bool      // whether the function index was told to make the documents of small packages together
	swept   time.Time // time at which a sweep was last started because of Progress.Missed
	logged  string    // text of the error that was last logged
}

// help speeds up the end of a crawl. The arguments p and err are the results of Progress, which show the state of
// the crawl:
//
//   - No URL is left to request, or the crawl is paused and no URL is on lease: help has the last
//     batches packed at once.
//   - The crawl is complete except for small packages (see Progress.Apart): help has the function
//     index make their documents together at once.
//   - A frontier is not built: help starts a sweep.
//   - A collection may lack pages that were requested for another collection (see Progress.Missed):
//     help starts a sweep.
//
// help returns err, and any error of sending its messages.
func (w *waitState) help(ctx context.Context, s *System, p Progress, err error) error {
	switch {
	case errors.Is(err, frontier.ErrNotBuilt) && w.other:
		w.other = false
		return errors.Join(err, s.sweep(ctx))
	case errors.Is(err, frontier.ErrNotBuilt):
		return err
	case err == nil && p.Missed && p.Waiting+p.Leased == 0 && time.Since(w.swept) > missedTick:
		w.swept = time.Now()
		err = s.sweep(ctx)
	case err == nil && (p.Crawled() || p.Paused != "" && p.Leased == 0) && p.Unpacked > 0 && !w.flushed:
		w.flushed = true
		err = s.flush(ctx)
	case err == nil && p.Crawled() && p.Settled() && p.Apart > 0 && !w.joined:
		w.joined = true
		err = s.join(ctx)
	case err == nil && p.Unpacked == 0:
		w.flushed, w.joined = false, w.joined && p.Apart > 0
	}
	w.other = true
	return err
}

// log logs an error, unless it is the one that was logged last.
func (w *waitState) log(s *System, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != w.logged {
		s.Log.Warn("progress", "error", err)
	}
	w.logged = text
}

// flush sends the function pack a message for each storage partition, to make it pack now all
// batches that wait to be packed, however few they are.
func (s *System) flush(ctx context.Context) error {
	inForce, err := s.Settings.Get(ctx)
	if err != nil {
		return err
	}
	for _, storage := range inForce.Partitions() {
		if err := task.Send(ctx, s.queues, task.Pack, task.Gather{Storage: storage, Flush: true}, 0); err != nil {
			return fmt.Errorf("cannot flush: %w", err)
		}
	}
	return nil
}

// join sends the function index a message for each storage partition, to make it index small packages
// together, however few pages they have.
func (s *System) join(ctx context.Context) error {
	inForce, err := s.Settings.Get(ctx)
	if err != nil {
		return err
	}
	for _, storage := range inForce.Partitions() {
		if err := task.Send(ctx, s.queues, task.Index, task.Together{Storage: storage, Ended: true}, 0); err != nil {
			return fmt.Errorf("cannot index small packages together: %w", err)
		}
	}
	return nil
}
