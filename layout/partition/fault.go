package partition

import (
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Fault is an error that remains until the partition is repaired: generations or books are lost or
// damaged. Its text is one sentence that names them, and the command that repairs them. A Fault
// wraps ErrLost, manifest.ErrDamaged or the errors of Books.Damaged.
type Fault struct{ err error }

// Error implements error.
func (f *Fault) Error() string { return f.err.Error() + "; run bucketsearch verify --repair" }

// Unwrap returns the wrapped error.
func (f *Fault) Unwrap() error { return f.err }

// IsFault reports whether an error is a Fault, or wraps one.
func IsFault(err error) bool {
	_, is := errors.AsType[*Fault](err)
	return is
}

// fault returns a Fault that wraps err if err says that generations are lost or
// damaged; otherwise err itself.
func fault(err error) error {
	if !IsFault(err) && (errors.Is(err, ErrLost) || errors.Is(err, manifest.ErrDamaged)) {
		return &Fault{err}
	}
	return err
}

// Later returns a Fault if later generations than m existed when m was read, but were damaged. It
// returns nil if m was the newest generation.
func Later(m *manifest.Manifest) error { return fault(m.Later()) }

// BooksFault returns a Fault that wraps the errors of damaged or missing books, one error for each
// book. Its text has the text of the first error, and says how many more books there are. If there
// are no errors, BooksFault returns nil.
func BooksFault(damaged ...error) error {
	switch len(damaged) {
	case 0:
		return nil
	case 1:
		return &Fault{damaged[0]}
	}
	return &Fault{&several{damaged}}
}

// isBookFault reports whether an error says that a book is damaged or missing, and not
// that the store failed.
func isBookFault(err error) bool {
	return errors.Is(err, blob.ErrAbsent) || errors.Is(err, book.ErrDamaged)
}

// several joins the errors of two or more damaged books into one error.
type several struct{ errs []error }

func (s *several) Error() string {
	return fmt.Sprintf("%v, and %d more books", s.errs[0], len(s.errs)-1)
}

func (s *several) Unwrap() []error { return s.errs }
