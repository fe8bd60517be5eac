package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// forgetLetters deletes the dead letters that contain a forgotten URL. It searches for them once
// for every version of the takedowns, and then once in each grace. It reads only the dead letters
// of fetch, because no other function's messages contain URLs. The other URLs of a deleted message
// are not lost: the frontier still has them.
func (f *Function) forgetLetters(ctx context.Context, s *settings.Settings) error {
	if s.Takedowns.Version == 0 {
		return nil
	}
	return f.once(ctx, fmt.Sprintf("forget letters %d", s.Takedowns.Version), func() error {
		kept, err := blob.List(ctx, f.Bucket, layout.DeadLetters+task.Fetch+"/")
		if err != nil {
			return err
		}
		errs := make([]error, len(kept))
		var group errgroup.Group
		group.SetLimit(8)
		for i, object := range kept {
			if layout.IsDeadLetter(object.Key) {
				group.Go(func() error { errs[i] = f.forgetLetter(ctx, s, object.Key); return nil })
			}
		}
		_ = group.Wait()
		return errors.Join(errs...)
	})
}

// forgetLetter deletes the dead letter with the key if it contains a forgotten URL. A letter whose
// message is not a batch was not sent by schedule, and contains no URL.
func (f *Function) forgetLetter(ctx context.Context, s *settings.Settings, key string) error {
	content, found, err := blob.Find(ctx, f.Bucket, key)
	if err != nil || !found {
		return err
	}
	letter, err := message.DecodeDeadLetter(content)
	if err != nil {
		return fmt.Errorf("cannot search dead letter %s: %w", key, err)
	}
	var b batch.Batch
	if json.Unmarshal([]byte(letter.Body), &b) != nil {
		return nil
	}
	if !slices.ContainsFunc(b.Targets, func(t batch.Target) bool { return s.Takedowns.ForgetsURL(t.URL) }) {
		return nil
	}
	f.Log.WarnContext(ctx, "deleted a dead letter that contains a forgotten URL", "queue", letter.Queue, "key", key, "batch", b.Version)
	return collect.Delete(ctx, f.Bucket, f.Now, []string{key})
}

// resendDelay is the time that a message waits in the queue when it is sent again from a dead letter.
// In this time the dead letter is deleted. If the message then fails again, its new dead letter, which
// has the same key, is not deleted by mistake.
const resendDelay = 5 * time.Second

// resend sends again the messages of the dead letters for which an operator has put a
// request (see layout.ResendKey), and deletes letters and requests. When it is killed
// before it deletes a letter, its message is sent twice, which is harmless.
func (f *Function) resend(ctx context.Context) error {
	kept, err := blob.List(ctx, f.Bucket, layout.DeadLetters)
	if err != nil {
		return err
	}
	var errs []error
	for _, object := range kept {
		letter, wanted := strings.CutSuffix(object.Key, ".again")
		if !wanted || layout.IsForeign(object.Key) {
			continue
		}
		letter += ".json"
		if err := f.resendOne(ctx, letter); err != nil {
			errs = append(errs, fmt.Errorf("cannot send dead letter %s again: %w", letter, err))
		}
	}
	return errors.Join(errs...)
}

// resendOne sends again the message of the dead letter with the key, and deletes the
// letter, then the request.
func (f *Function) resendOne(ctx context.Context, key string) error {
	content, found, err := blob.Find(ctx, f.Bucket, key)
	if err != nil {
		return err
	}
	if !found { // the letter was sent and deleted; only its request is left
		return f.Bucket.Delete(ctx, layout.ResendKey(key))
	}
	letter, err := message.DecodeDeadLetter(content)
	if err != nil {
		return err
	}
	if err := f.Sender.Send(ctx, letter.Queue, []byte(letter.Body), resendDelay); err != nil {
		return err
	}
	if err := f.Bucket.Delete(ctx, key); err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "dead letter is sent again", "queue", letter.Queue, "key", key, "reason", letter.Reason)
	return f.Bucket.Delete(ctx, layout.ResendKey(key))
}
