package lease

import (
	"context"
	"crypto/rand"
	"time"
)

// Do works while it holds the name, for ttl at most, and gives it back. It
// returns false without having worked when another holds it; each call of Do
// is a holder of its own.
func (l *Leases) Do(ctx context.Context, name string, now time.Time, ttl time.Duration, work func() error) (bool, error) {
	one := New(l.rdb, l.holder+"/"+rand.Text())
	held, acquired, err := one.Acquire(ctx, name, now, ttl)
	if err != nil || !acquired {
		return false, err
	}
	err = work()
	if errRelease := one.Release(context.WithoutCancel(ctx), held); err == nil {
		err = errRelease
	}
	return true, err
}

// Once reports whether this is the first call for the name in ttl.
func (l *Leases) Once(ctx context.Context, name string, now time.Time, ttl time.Duration) (bool, error) {
	_, acquired, err := New(l.rdb, l.holder+"/"+rand.Text()).Acquire(ctx, name, now, ttl)
	return acquired, err
}
