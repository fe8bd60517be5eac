package child

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// restartPolicy says how long to wait before each restart of a child, and when to give the child
// up.
type restartPolicy struct {
	// pauses holds the times to wait before the restarts of a child: before the first, before the
	// second, and so on. If the child ends after the last of these restarts, it is given up.
	pauses []time.Duration
	// steady is the time after which earlier restarts of a running child no longer count. If the
	// child ends after that, its next restart counts as the first.
	steady time.Duration
}

// usual is the policy of Keep. The first restart follows immediately, because a child that was only
// killed can start again at once. Later restarts follow after growing pauses, because the machine
// may lack memory.
var usual = restartPolicy{
	pauses: []time.Duration{0, 100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second, 5 * time.Second},
	steady: time.Minute,
}

// Keeper keeps a child process running: when the child ends, the Keeper starts it again.
type Keeper struct {
	child  Child
	policy restartPolicy
	cancel context.CancelFunc
	done   chan struct{}
	err    error // reason why the child was given up, or nil; valid when done is closed
}

// Child holds two functions of the caller of Keep: one starts the child process, the other is
// told of each restart.
type Child struct {
	// Start starts the child and returns when the child is ready. If it returns an error,
	// it must not leave a child running. It must return soon after ctx ends.
	Start func(ctx context.Context) (*Process, error)
	// Restarted, if not nil, is called each time the child is ready again after a restart. Its
	// argument says how the child had ended.
	Restarted func(why error)
}

// Keep starts a child, and returns a Keeper that restarts it whenever it ends by itself:
// immediately the first time, then after growing pauses. After five restarts in a row, without a
// minute of running in between, the Keeper gives the child up when it ends again. ctx limits only
// the first start.
func Keep(ctx context.Context, c Child) (*Keeper, error) { return keep(ctx, c, usual) }

// keep starts a child and restarts it according to a policy. Keep and tests call it.
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

// run restarts the child p whenever it ends. When ctx ends, run kills the child and returns
// nil. If it gives the child up, it returns the reason.
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

// again restarts a child that has ended. If a start fails, it tries again, as often as the policy
// allows. Its arguments are the number of restarts in a row so far, and the reason why the child
// ended. It returns the new child, the new number of restarts in a row, and an error. If the policy
// allows no further restart, there is an error and no child. If ctx ends, there is neither.
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

// Done returns a channel that is closed when the child is given up. Close closes it, too.
func (k *Keeper) Done() <-chan struct{} { return k.done }

// Err returns why the child was given up; nil if it was not.
func (k *Keeper) Err() error {
	select {
	case <-k.done:
		return k.err
	default:
		return nil
	}
}

// Close kills the child and returns when it has ended.
func (k *Keeper) Close() {
	k.cancel()
	<-k.done
}
