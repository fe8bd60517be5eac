package system

import (
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// readOnly is a bucket that can be read. All its writes fail with the error in the field why.
type readOnly struct {
	blob.Reader
	why error
}

// Create fails with b.why, as Replace and Delete do.
func (b readOnly) Create(_ context.Context, key string, _ []byte) error {
	return b.refuse("create", key)
}

func (b readOnly) Replace(_ context.Context, key string, _ []byte) error {
	return b.refuse("replace", key)
}

func (b readOnly) Delete(_ context.Context, key string) error { return b.refuse("delete", key) }

func (b readOnly) refuse(op, key string) error { return fmt.Errorf("cannot %s %s: %w", op, key, b.why) }
