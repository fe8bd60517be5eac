// Package effort lets work on a request announce how much processor time it is about to take, so that whoever
// has begun the request can have costly work give way to cheap work. A server puts a Payer into the context of
// a request (With). Every long loop of the work calls Spend before each of its steps:
//
//	if err := effort.Spend(ctx, len(terms)*perTerm); err != nil {
//		return err
//	}
//
// Effort is estimated from numbers such as that of the terms to be looked up, and is not measured. So it is the
// same for the same request, however busy the machine is. Its unit is about a microsecond of one processor.
package effort

import "context"

// Payer is told of effort before it is made. It may be called by several goroutines of a request at the same
// time.
type Payer interface {
	// Expect is called when it becomes known that effort of so many units is ahead, which Spend will be called for.
	// What holds for Spend holds for Expect.
	Expect(ctx context.Context, units int) error
	// Spend is called before work of so many units. It may wait before it returns. The work must not be done
	// if it returns an error: the error of ctx if ctx ended while Spend waited, or a *Refused.
	Spend(ctx context.Context, units int) error
}

// Refused is the error of a request that turned out to be costly while too many costly ones waited.
type Refused struct {
	Sentence string // what is the matter, without a full stop
	Seconds  int    // after which the client may ask again
}

// Error implements error.
func (r *Refused) Error() string { return r.Sentence }

type key struct{}

// With returns a context whose work is announced to p.
func With(ctx context.Context, p Payer) context.Context { return context.WithValue(ctx, key{}, p) }

// Expect tells the Payer of the context, if it has one, that work of so many units is ahead. Its error is like that
// of Spend.
func Expect(ctx context.Context, units int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p, has := ctx.Value(key{}).(Payer); has {
		return p.Expect(ctx, units)
	}
	return nil
}

// Spend announces work of so many units to the Payer of the context, if it has one. Its error is that of ctx if
// ctx has ended, or that of the Payer.
func Spend(ctx context.Context, units int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p, has := ctx.Value(key{}).(Payer); has {
		return p.Spend(ctx, units)
	}
	return nil
}
