package message_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

func TestKinds(t *testing.T) {
	plain := errors.New("plain")
	terminal, later := message.Terminal(plain), message.Later(plain)
	rebuilt := fmt.Errorf("cannot settle: %w", frontier.ErrNotBuilt)
	for _, c := range []struct {
		name                    string
		err                     error
		wantTerminal, wantLater bool
	}{
		{"none", nil, false, false},
		{"plain", plain, false, false},
		{"terminal", fmt.Errorf("x: %w", terminal), true, false},
		{"later", fmt.Errorf("x: %w", later), false, true},
		{"the frontier is rebuilt", rebuilt, false, true},
		{"and by a message of two errors", fmt.Errorf("%w: %w", rebuilt, later), false, true},
		{"both terminal", errors.Join(nil, terminal, terminal), true, false},
		{"one of two is plain", errors.Join(terminal, plain), false, false},
		{"rebuilt, and something else", errors.Join(rebuilt, blob.ErrRetryable), false, false},
	} {
		if got := message.IsTerminal(c.err); got != c.wantTerminal {
			t.Errorf("%s: terminal is %v", c.name, got)
		}
		if got := message.IsLater(c.err); got != c.wantLater {
			t.Errorf("%s: later is %v", c.name, got)
		}
	}
}

func TestDecode(t *testing.T) {
	for body, good := range map[string]bool{`{}`: true, ` {"crawl":3}`: true, ``: false, `null`: false, `[]`: false, `3`: false, `{"crawl":`: false, `{"crawl":"x"}`: false} {
		var into struct{ Crawl int }
		if err := message.Decode(body, &into); (err == nil) != good || message.IsTerminal(err) == good {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// A key that fails keeps no other from being run.
func TestEachKey(t *testing.T) {
	const body = `{"Records":[{"eventName":"ObjectCreated:Put","s3":{"object":{"key":"a"}}},{"eventName":"ObjectCreated:Put","s3":{"object":{"key":"b"}}}]}`
	var ran []string
	err := message.EachKey(body, func(key string) error {
		ran = append(ran, key)
		return message.Terminal(errors.New(key))
	})
	if diff := cmp.Diff([]string{"a", "b"}, ran); diff != "" || !message.IsTerminal(err) {
		t.Errorf("ran (-want +got):\n%s%v", diff, err)
	}
	if err := message.EachKey("{", nil); !message.IsTerminal(err) {
		t.Errorf("no event: %v", err)
	}
}
