package search

import "fmt"

// Unreadable is the error of a search that could not read one of its segments.
type Unreadable struct {
	Segment string // its key
	Err     error
}

// Error implements error.
func (u *Unreadable) Error() string {
	return fmt.Sprintf("cannot read segment %s: %v", u.Segment, u.Err)
}

// Unwrap returns the cause.
func (u *Unreadable) Unwrap() error { return u.Err }
