package judgment

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Forgotten returns the keys of the objects that name URLs or sites which a takedown forgets. These
// are sheets (grades by a judge) with marks for such URLs, clicks on such URLs, and all sheets and
// clicks whose query names such a URL or site. It ignores damaged objects.
func Forgotten(ctx context.Context, bucket blob.Reader, forgotten *takedown.Set) (keys []string, err error) {
	_, err = tainted(ctx, bucket, forgotten, func(key string, _ Sheet) { keys = append(keys, key) })
	return keys, err
}

// Erase erases the marks and clicks for URLs that a takedown forgets: it removes these marks from the
// sheets (grades by judges), and deletes these clicks. It returns the number of objects that it has
// deleted or replaced. It stores what is left of a sheet as a new object before it deletes the old
// object. So it may be stopped at any point and run again. It leaves a damaged object as it is, and
// names it in the error.
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

// tainted finds the sheets (grades by judges) and clicks that name a URL or site that a takedown
// covers. For each of them, it calls a function (the parameter do) with the key of the object, and
// with the sheet that must be stored in its place. For a sheet, this is the sheet without what the
// takedown covers (see Sheet.Forget). For a click, it is an empty sheet: nothing must be stored. The
// result unread has an error for each object that cannot be read (see each).
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
