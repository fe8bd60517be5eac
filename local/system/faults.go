package system

// WrongOption is an error in the value of an option, such as an Options.S3 that is no valid address.
type WrongOption struct{ error }

// Unwrap returns the error itself.
func (w WrongOption) Unwrap() error { return w.error }

// LostStrategy is the error that a bucket has manifests but no crawl or storage strategy.
type LostStrategy struct{ error }

// Unwrap returns the error itself.
func (l LostStrategy) Unwrap() error { return l.error }
