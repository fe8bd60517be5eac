// Package effort estimates how much processor time the work on a request takes, and announces it before the work
// is done. So a server can make costly requests wait for cheap ones. The server puts a Payer, which receives the
// announcements, into the context of a request (see With). Every long loop of the work calls Spend before each of
// its steps:
//
//	if err := effort.Spend(ctx, len(terms)*perTerm); err != nil {
//		return err
//	}
//
// Effort is not measured, but computed from numbers such as the number of terms to look up. So the same request
// always has the same effort, even on a busy machine. A unit of effort is about one microsecond of one processor.
package effort

import "context"

// Payer receives the announcements of effort for one request. Several goroutines of the request may call its
// methods at the same time.
type Payer interface {
	// Expect announces that at least so many units of effort are ahead. Spend is called for the same units later.
	// Like Spend, Expect may wait, and has the same errors.
	Expect(ctx context.Context, units int) error
	// Spend is called just before work of so many units. It may wait before it returns. If it returns an error,
	// the work must not be done. The error is that of ctx if ctx ended while Spend waited, or a *Refused.
	Spend(ctx context.Context, units int) error
}

// Refused is the error of a request that turned out to be costly while too many costly ones waited.
type Refused struct {
	Sentence string // message for the client, without a full stop
	Seconds  int    // number of seconds after which the client may ask again
}

// Error implements error.
func (r *Refused) Error() string { return r.Sentence }

type key struct{}

// With returns a context that has the Payer p: Expect and Spend with this context call p.
func With(ctx context.Context, p Payer) context.Context { return context.WithValue(ctx, key{}, p) }

// Expect tells the Payer of the context that work of so many units is ahead (see Payer). Without a Payer it does
// nothing. Its errors are those of Spend.
func Expect(ctx context.Context, units int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p, has := ctx.Value(key{}).(Payer); has {
		return p.Expect(ctx, units)
	}
	return nil
}

// Spend announces work of so many units to the Payer of the context (see Payer). It returns the error of ctx if
// ctx has ended, otherwise that of the Payer; nil if the context has no Payer.
func Spend(ctx context.Context, units int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p, has := ctx.Value(key{}).(Payer); has {
		return p.Spend(ctx, units)
	}
	return nil
}
