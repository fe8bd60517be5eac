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

// drain moves the messages that SQS gave up to the bucket, as dead letters. So they can be seen and sent again, and the
// alarm of SQS's queue ends.
func (f *Function) drain(ctx context.Context) error {
	if f.DeadLetters == nil {
		return nil
	}
	return f.DeadLetters.Drain(ctx)
}

// forgetLetters deletes the dead letters (messages that were given up) that contain a URL which a
// takedown forgets. It searches for them once for every version of the takedowns, and again after
// each grace period (a day). It reads only the dead letters of fetch, because no other function's
// messages contain URLs. The other URLs of a deleted message are not lost: the frontier still has
// them.
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

// forgetLetter deletes the dead letter (message that was given up) with the key if it contains a
// URL which a takedown forgets. If the message is not a batch of URLs, it contains no URL, and
// stays.
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

// resendDelay is the time that a message waits in its queue when it is sent again from a dead
// letter (the copy of a message that was given up). In this time the dead letter is deleted.
// Without the delay, the message might fail again before that. Its new dead letter has the same
// key, and would then be deleted by mistake.
const resendDelay = 5 * time.Second

// resend sends again the messages of those dead letters (messages that were given up) that the
// operator has chosen. For each of them there is a request in the bucket (see layout.ResendKey).
// When the message is sent, resend deletes the letter and the request. If it is killed before that,
// the next call sends the message once more, which is harmless.
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

// resendOne sends again the message of the dead letter with the given key. Then it deletes the letter
// and, after it, the operator's request to send the message again (see layout.ResendKey). It does not
// send the tick of a clock, for which there may be no queue: the clock ticks again.
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
	if !task.IsOnlyTicked(letter.Queue) {
		if err := f.Sender.Send(ctx, letter.Queue, []byte(letter.Body), resendDelay); err != nil {
			return err
		}
	}
	if err := f.Bucket.Delete(ctx, key); err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "dead letter is tried again", "queue", letter.Queue, "key", key, "reason", letter.Reason)
	return f.Bucket.Delete(ctx, layout.ResendKey(key))
}
