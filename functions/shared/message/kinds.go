package message

import (
	"errors"

	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// An error is of one of three kinds, of which only the last counts as a fault
// of the function:
//
//	kind      another try      what becomes of the message                    counted as
//	Terminal  cannot mend it   a dead letter at once, and acknowledged        failed
//	Later     will mend it     it comes back; after MaxReceives acknowledged, postponed
//	                           for the sweep finds what is to be done
//	other     may mend it      it comes back; after MaxReceives a dead letter failed
//
// Several errors that are joined are of a kind only if all of them are.

// marked is an error of a kind.
type marked struct {
	error
	kind kind
}

type kind byte

const (
	terminal kind = iota
	later
)

// Unwrap returns the error without its kind.
func (m *marked) Unwrap() error { return m.error }

func mark(err error, k kind) error {
	if err == nil {
		return nil
	}
	return &marked{err, k}
}

func isOf(err error, k kind) bool {
	m, is := err.(*marked)
	return is && m.kind == k
}

// Terminal marks err as one that another try cannot mend, such as a message
// that does not parse. Terminal(nil) is nil.
func Terminal(err error) error { return mark(err, terminal) }

// IsTerminal reports whether err is marked by Terminal.
func IsTerminal(err error) bool {
	return every(err, func(err error) bool { return isOf(err, terminal) })
}

// Later marks err as no fault: the message has come too early, and shall come
// again. It is logged as a mere remark. Later(nil) is nil.
func Later(err error) error { return mark(err, later) }

// IsLater reports whether err is marked by Later, or says that the frontier is
// being rebuilt, which every function that needs one has to wait for.
func IsLater(err error) bool {
	return every(err, func(err error) bool { return isOf(err, later) || err == frontier.ErrNotBuilt })
}

// every reports whether an error, or what it wraps, is so; of errors that are
// joined, whether each is.
func every(err error, is func(error) bool) bool {
	if err == nil {
		return false
	}
	if is(err) {
		return true
	}
	if joined, many := err.(interface{ Unwrap() []error }); many {
		for _, one := range joined.Unwrap() {
			if !every(one, is) {
				return false
			}
		}
		return len(joined.Unwrap()) > 0
	}
	return every(errors.Unwrap(err), is)
}
