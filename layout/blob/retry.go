package blob

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Policy says how often an operation is tried, and how long to wait between the tries.
type Policy struct {
	// Attempts is the number of tries in all, at least 1.
	Attempts int
	// Base and Max limit the pauses. The pause before the second attempt is at most Base.
	// This limit doubles with each further attempt, up to Max. Random chooses a pause
	// below the limit.
	Base, Max time.Duration
	// Random returns a random number in [0, 1), by which the limit of a pause is multiplied to get
	// the pause. So callers that fail at the same time try again at different times.
	Random func() float64
	// Sleep waits; it returns early with an error when ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Sleep waits until d has passed or ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Retry returns a bucket that repeats operations that fail with ErrRetryable. If the
// answer of a Create is lost, and the next attempt finds the object with the same
// content, the Create succeeds. A List continues after the last object that it yielded.
func Retry(b Bucket, p Policy) Bucket { return retrying{b, p} }

// retrying is the Bucket that Retry returns.
type retrying struct {
	bucket Bucket
	policy Policy
}

// pause waits before the next attempt. The parameter attempt is the number of attempts
// made so far; last is the error of the latest one. If no attempt is left, pause
// returns an error that wraps this error. If ctx ends, it returns the error of Sleep.
func (p Policy) pause(ctx context.Context, attempt int, last error) error {
	if attempt >= p.Attempts {
		return fmt.Errorf("after %d attempts: %w", attempt, last)
	}
	longest := p.Base
	for i := 1; i < attempt && longest < p.Max; i++ {
		longest *= 2
	}
	longest = min(longest, p.Max)
	return p.Sleep(ctx, time.Duration(p.Random()*float64(longest)))
}

// do calls operation until it succeeds, fails with an error that is not ErrRetryable, or has been
// called Attempts times.
func (p Policy) do(ctx context.Context, operation func() error) error {
	for attempt := 1; ; attempt++ {
		err := operation()
		if !errors.Is(err, ErrRetryable) {
			return err
		}
		if err := p.pause(ctx, attempt, err); err != nil {
			return err
		}
	}
}

func (r retrying) Get(ctx context.Context, key string, span Range) (content []byte, err error) {
	err = r.policy.do(ctx, func() error {
		content, err = r.bucket.Get(ctx, key, span)
		return err
	})
	return content, err
}

func (r retrying) Head(ctx context.Context, key string) (size int64, err error) {
	err = r.policy.do(ctx, func() error {
		size, err = r.bucket.Head(ctx, key)
		return err
	})
	return size, err
}

func (r retrying) Replace(ctx context.Context, key string, content []byte) error {
	return r.policy.do(ctx, func() error { return r.bucket.Replace(ctx, key, content) })
}

func (r retrying) Delete(ctx context.Context, key string) error {
	return r.policy.do(ctx, func() error { return r.bucket.Delete(ctx, key) })
}

func (r retrying) Create(ctx context.Context, key string, content []byte) error {
	ambiguous := false
	return r.policy.do(ctx, func() error {
		err := r.bucket.Create(ctx, key, content)
		if ambiguous && errors.Is(err, ErrExists) {
			same, errGet := holds(ctx, r.bucket, key, content)
			if same || errors.Is(errGet, ErrRetryable) { // stored by an earlier attempt, or unknown: try again
				return errGet
			}
		}
		ambiguous = ambiguous || errors.Is(err, ErrRetryable)
		return err
	})
}

func (r retrying) List(ctx context.Context, prefix, startAfter string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for attempt := 1; ; attempt++ {
			var failure error
			for object, err := range r.bucket.List(ctx, prefix, startAfter) {
				if err != nil {
					failure = err
					break
				}
				if !yield(object, nil) {
					return
				}
				attempt, startAfter = 1, object.Key
			}
			if failure == nil {
				return
			}
			if errors.Is(failure, ErrRetryable) {
				failure = r.policy.pause(ctx, attempt, failure)
			}
			if failure != nil {
				yield(Object{}, failure)
				return
			}
		}
	}
}
