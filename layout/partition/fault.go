package partition

import (
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Fault is an error that lasts until repair: generations or books of a partition
// are lost or damaged. Its text is one sentence that says which, and what to do.
// It wraps ErrLost, manifest.ErrDamaged, or what Books.Damaged returns.
type Fault struct{ err error }

// Error implements error.
func (f *Fault) Error() string { return f.err.Error() + "; run bucketsearch verify --repair" }

// Unwrap returns what is wrong.
func (f *Fault) Unwrap() error { return f.err }

// IsFault reports whether an error is a Fault, or wraps one.
func IsFault(err error) bool {
	_, is := errors.AsType[*Fault](err)
	return is
}

// fault makes a Fault of an error that says that generations are lost or damaged.
func fault(err error) error {
	if !IsFault(err) && (errors.Is(err, ErrLost) || errors.Is(err, manifest.ErrDamaged)) {
		return &Fault{err}
	}
	return err
}

// Later returns the Fault that a generation which is read is not the newest, since
// later ones are damaged; nil where it is.
func Later(m *manifest.Manifest) error { return fault(m.Later()) }

// BooksFault returns the Fault that some books are damaged or missing, of which
// the text names the first; nil for none.
func BooksFault(damaged ...error) error {
	switch len(damaged) {
	case 0:
		return nil
	case 1:
		return &Fault{damaged[0]}
	}
	return &Fault{&several{damaged}}
}

// isBookFault reports whether a book is at fault for an error, and not the store.
func isBookFault(err error) bool {
	return errors.Is(err, blob.ErrAbsent) || errors.Is(err, book.ErrDamaged)
}

// several are errors of books.
type several struct{ errs []error }

func (s *several) Error() string {
	return fmt.Sprintf("%v, and %d more books", s.errs[0], len(s.errs)-1)
}

func (s *several) Unwrap() []error { return s.errs }
