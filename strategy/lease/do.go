package lease

import (
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// Do works while it holds the name, and gives it back. The lease is taken for
// ttl and renewed until the work ends, so that a holder that dies frees the
// name within ttl. It returns false without having worked when another holds
// it; each call of Do is a holder of its own. A lease that is lost meanwhile
// does not end the work, which then goes on beside another's.
func (l *Leases) Do(ctx context.Context, name string, now func() time.Time, ttl time.Duration, work func() error) (worked bool, err error) {
	one := New(l.rdb, l.holder+"/"+rand.Text())
	held, acquired, err := one.Acquire(ctx, name, now(), ttl)
	if err != nil || !acquired {
		return false, err
	}
	stop := one.keep(ctx, held, now, ttl)
	defer func() {
		stop()
		// A name that cannot be given back is free when its time is over.
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
				_, _, _ = l.Renew(ctx, held, now(), ttl) // if it fails, the next may not
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
