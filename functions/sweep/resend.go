package sweep

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// resendDelay leaves time to delete the letter before the message may become
// one again.
const resendDelay = 5 * time.Second

// resend sends the dead letters again that somebody wants to be sent (see
// layout.ResendKey), and deletes both. One that is sent twice does no harm, as
// no message does.
func (f *Function) resend(ctx context.Context) error {
	kept, err := collect.List(ctx, f.Bucket, layout.DeadLetters)
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

func (f *Function) resendOne(ctx context.Context, key string) error {
	content, err := f.Bucket.Get(ctx, key, blob.Range{})
	if errors.Is(err, blob.ErrAbsent) { // sent, and the wish is left
		return f.Bucket.Delete(ctx, layout.ResendKey(key))
	}
	if err != nil {
		return err
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
