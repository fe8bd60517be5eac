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

// Terminal marks err as one that another try cannot mend, such as a message
// that does not parse. Terminal(nil) is nil.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &terminalError{err}
}

// IsTerminal reports whether err is marked by Terminal.
func IsTerminal(err error) bool {
	return every(err, func(err error) bool { _, is := err.(*terminalError); return is })
}

type terminalError struct{ err error }

func (e *terminalError) Error() string { return e.err.Error() }
func (e *terminalError) Unwrap() error { return e.err }

// Later marks err as no fault: the message has come too early, and shall come
// again. It is logged as a mere remark. Later(nil) is nil.
func Later(err error) error {
	if err == nil {
		return nil
	}
	return &laterError{err}
}

// IsLater reports whether err is marked by Later, or says that the frontier is
// being rebuilt, which every function that needs one has to wait for.
func IsLater(err error) bool {
	return every(err, func(err error) bool {
		_, is := err.(*laterError)
		return is || err == frontier.ErrNotBuilt
	})
}

type laterError struct{ err error }

func (e *laterError) Error() string { return e.err.Error() }
func (e *laterError) Unwrap() error { return e.err }

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
