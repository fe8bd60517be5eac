package child

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// restartPolicy decides when a child is started again.
type restartPolicy struct {
	// pauses are the pauses before the first, second, … start in a row; after the
	// last one the child is given up.
	pauses []time.Duration
	// steady is the time after which a running child counts as healthy: the row
	// begins again.
	steady time.Duration
}

// usual restarts a killed child at once, and waits longer for a machine that is short of
// resources.
var usual = restartPolicy{
	pauses: []time.Duration{0, 100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second, 5 * time.Second},
	steady: time.Minute,
}

// Keeper keeps a child running.
type Keeper struct {
	child  Child
	policy restartPolicy
	cancel context.CancelFunc
	done   chan struct{}
	err    error // set before done is closed
}

// Child is what a Keeper keeps running.
type Child struct {
	// Start starts the child and returns when it is ready. If it fails, no child runs.
	// It fails soon when ctx ends.
	Start func(ctx context.Context) (*Process, error)
	// Restarted, if not nil, is called each time the child is ready again, with the
	// reason of its end.
	Restarted func(why error)
}

// Keep starts a child and restarts it whenever it ends by itself: at once, then after
// growing pauses. A child that ends six times without running for a minute in between
// is given up. ctx limits only the first start.
func Keep(ctx context.Context, c Child) (*Keeper, error) { return keep(ctx, c, usual) }

func keep(ctx context.Context, c Child, policy restartPolicy) (*Keeper, error) {
	first, err := c.Start(ctx)
	if err != nil {
		return nil, err
	}
	k := &Keeper{child: c, policy: policy, done: make(chan struct{})}
	ctx, k.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(k.done)
		k.err = k.run(ctx, first)
	}()
	return k, nil
}

// run returns nil when ctx has ended and the child with it, else the reason for which
// the child was given up.
func (k *Keeper) run(ctx context.Context, p *Process) error {
	for row := 0; ; {
		began := time.Now()
		select {
		case <-ctx.Done():
			p.Kill()
			return nil
		case <-p.Done():
		}
		if time.Since(began) >= k.policy.steady {
			row = 0
		}
		var err error
		if p, row, err = k.again(ctx, row, errors.New(p.End())); p == nil {
			return err
		}
	}
}

// again starts the child until it is ready, and returns the number of starts in a row.
// It returns no child when ctx has ended, and an error when the child is given up.
func (k *Keeper) again(ctx context.Context, row int, why error) (*Process, int, error) {
	last := why
	for ; row < len(k.policy.pauses); row++ {
		if blob.Sleep(ctx, k.policy.pauses[row]) != nil {
			return nil, row, nil
		}
		p, err := k.child.Start(ctx)
		if err == nil {
			if k.child.Restarted != nil {
				k.child.Restarted(why)
			}
			return p, row + 1, nil
		}
		last = err
	}
	if ctx.Err() != nil {
		return nil, row, nil
	}
	return nil, row, fmt.Errorf("it was started again %d times in vain: %w", row, last)
}

// Done is closed when the child is given up, or Close was called.
func (k *Keeper) Done() <-chan struct{} { return k.done }

// Err returns why the child was given up; nil before, and after Close.
func (k *Keeper) Err() error {
	select {
	case <-k.done:
		return k.err
	default:
		return nil
	}
}

// Close ends the child and returns when it is gone.
func (k *Keeper) Close() {
	k.cancel()
	<-k.done
}
