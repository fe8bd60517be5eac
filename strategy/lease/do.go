package lease

import (
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// Do calls work while it holds the lease on a name, and then releases the lease. It
// takes the lease for ttl and renews it until work returns, so that the death of
// a holder frees the name within ttl. It returns false without calling work when
// another holder has the lease; each call of Do is a holder of its own. When the
// lease is lost meanwhile, work goes on, beside that of the new holder.
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

// keep renews a lease until the function that it returns is called.
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

// Once reports whether this is the first call for the name in ttl.
func (l *Leases) Once(ctx context.Context, name string, now time.Time, ttl time.Duration) (bool, error) {
	_, acquired, err := New(l.rdb, l.holder+"/"+rand.Text()).Acquire(ctx, name, now, ttl)
	return acquired, err
}
