package partition

import (
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Fault is an error that only a repair ends: generations or books of a partition are
// lost or damaged. Its text is one sentence that says which, and what to do. It wraps
// ErrLost, manifest.ErrDamaged or the errors of Books.Damaged.
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

// fault returns a Fault for an error about lost or damaged generations.
func fault(err error) error {
	if !IsFault(err) && (errors.Is(err, ErrLost) || errors.Is(err, manifest.ErrDamaged)) {
		return &Fault{err}
	}
	return err
}

// Later returns a Fault if m is not the newest generation because later ones are
// damaged, else nil.
func Later(m *manifest.Manifest) error { return fault(m.Later()) }

// BooksFault returns a Fault for damaged or missing books, of which the text names
// the first; nil for none.
func BooksFault(damaged ...error) error {
	switch len(damaged) {
	case 0:
		return nil
	case 1:
		return &Fault{damaged[0]}
	}
	return &Fault{&several{damaged}}
}

// isBookFault reports whether an error is the fault of a book, and not of the store.
func isBookFault(err error) bool {
	return errors.Is(err, blob.ErrAbsent) || errors.Is(err, book.ErrDamaged)
}

// several are errors of books.
type several struct{ errs []error }

func (s *several) Error() string {
	return fmt.Sprintf("%v, and %d more books", s.errs[0], len(s.errs)-1)
}

func (s *several) Unwrap() []error { return s.errs }
