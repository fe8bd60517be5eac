package lease

import (
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// Do takes the lease on a name, calls work, and releases the lease. It takes the lease
// for the time ttl and renews it until work returns; if the process dies, the lease ends
// within ttl. Each call of Do is a holder of its own: if another call has the lease, Do
// returns false and does not call work. If the lease is lost while work runs, work goes on,
// and the new holder may do the same work at the same time.
func (l *Leases) Do(ctx context.Context, name string, now func() time.Time, ttl time.Duration, work func() error) (worked bool, err error) {
	one := New(l.rdb, l.holder+"/"+rand.Text())
	held, acquired, err := one.Acquire(ctx, name, now(), ttl)
	if err != nil || !acquired {
		return false, err
	}
	stop := one.keep(ctx, held, now, ttl)
	defer func() {
		stop()
		// A lease that cannot be released ends by itself.
		_ = one.Release(context.WithoutCancel(ctx), held)
	}()
	return true, work()
}

// keep renews a lease in the background, each time a third of ttl has passed, until stop
// is called.
func (l *Leases) keep(ctx context.Context, held Lease, now func() time.Time, ttl time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		ticker := time.NewTicker(max(ttl/3, time.Millisecond))
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				_, _, _ = l.Renew(ctx, held, now(), ttl) // a failed renewal is tried again at the next tick
			}
		}
	})
	return func() {
		cancel()
		renewing.Wait()
	}
}

// Once returns true for the first call with a name. For the duration ttl after that, it returns
// false for all calls with the same name.
func (l *Leases) Once(ctx context.Context, name string, now time.Time, ttl time.Duration) (bool, error) {
	_, acquired, err := New(l.rdb, l.holder+"/"+rand.Text()).Acquire(ctx, name, now, ttl)
	return acquired, err
}
