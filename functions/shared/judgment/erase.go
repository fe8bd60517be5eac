package judgment

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Forgotten returns the keys of the sheets that have marks for forgotten URLs, and of the clicks on
// such URLs; also of those whose query names a forgotten URL or site. It ignores damaged objects.
func Forgotten(ctx context.Context, bucket blob.Reader, forgotten *takedown.Set) (keys []string, err error) {
	_, err = tainted(ctx, bucket, forgotten, func(key string, _ Sheet) { keys = append(keys, key) })
	return keys, err
}

// Erase erases the marks for forgotten URLs from all sheets, and deletes the clicks on such URLs.
// It returns the number of objects that it has deleted or replaced. It stores the rest of a sheet
// as a new object before it deletes the old one, so it may be stopped at any point and run again.
// It leaves a damaged object as it is, and names it in the error.
func Erase(ctx context.Context, bucket blob.Bucket, forgotten *takedown.Set) (erased int, err error) {
	var old []string
	var errErase error
	unread, err := tainted(ctx, bucket, forgotten, func(key string, rest Sheet) {
		if errErase != nil {
			return
		}
		if len(rest.Marks) > 0 {
			errErase = Put(ctx, bucket, rest)
		}
		if errErase == nil {
			old = append(old, key)
		}
	})
	for _, key := range old {
		if errDelete := bucket.Delete(ctx, key); errDelete != nil {
			return erased, fmt.Errorf("cannot delete %s: %w", key, errDelete)
		}
		erased++
	}
	if err = cmp.Or(err, errErase); err != nil {
		return erased, err
	}
	for _, fault := range unread {
		return erased, fmt.Errorf("cannot search for what is forgotten: %w", fault)
	}
	return erased, nil
}

// tainted finds the sheets and clicks that name a forgotten URL. For each it calls the function do
// with the key of the object, and with the sheet without the forgotten URLs (an empty sheet for a
// click). The result unread has an error for each object that cannot be read (see each).
func tainted(ctx context.Context, bucket blob.Reader, forgotten *takedown.Set, do func(key string, rest Sheet)) (unread []error, err error) {
	unread, err = sheets(ctx, bucket, layout.Judgments, func(key string, s Sheet) {
		if rest, changed := s.Forget(forgotten); changed {
			do(key, rest)
		}
	})
	if err != nil {
		return nil, err
	}
	keys, err := keysBelow(ctx, bucket, layout.Clicks)
	if err != nil {
		return nil, err
	}
	more, err := each(ctx, bucket, keys, decodeStored, func(key string, c Click) {
		if c.Forgotten(forgotten) {
			do(key, Sheet{})
		}
	})
	return append(unread, more...), err
}
