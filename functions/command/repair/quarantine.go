package repair

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// keep puts a copy of damaged bytes into quarantine.
func (r *Repairer) keep(ctx context.Context, key string, content []byte) error {
	err := blob.CreateOnce(ctx, r.Bucket, layout.QuarantineKey(key, content), content)
	if err != nil {
		return fmt.Errorf("cannot keep damaged object %s: %w", key, err)
	}
	return nil
}

// remove keeps damaged bytes and frees their key, before anything is committed:
// a sound object that is made anew may have the same key, and until then
// whoever asks for the damaged one fails in any case.
func (r *Repairer) remove(ctx context.Context, key string, content []byte) error {
	if err := r.keep(ctx, key, content); err != nil {
		return err
	}
	if err := r.Bucket.Delete(ctx, key); err != nil {
		return fmt.Errorf("cannot delete damaged object %s: %w", key, err)
	}
	return nil
}

// get returns an object, found being false when it is absent.
func (r *Repairer) get(ctx context.Context, key string) (content []byte, found bool, err error) {
	content, err = r.Bucket.Get(ctx, key, blob.Range{})
	switch {
	case errors.Is(err, blob.ErrAbsent):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("cannot read %s: %w", key, err)
	}
	return content, true, nil
}
