package webobject

import "errors"

// ErrDamaged is wrapped by every error that is the fault of a package's or a
// run's bytes, and by none that is the fault of the store.
var ErrDamaged = errors.New("stored bytes are damaged")
