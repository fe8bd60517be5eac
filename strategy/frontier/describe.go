package frontier

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Lengths, in bytes, of the states of URLs as Redis holds them (see doc.go).
const (
	pendingBytes = 7                           // bytes of the state of a URL that waits or is parked
	leasedBytes  = pendingBytes + versionBytes // bytes of the state of a URL that is leased
	finalBytes   = 3 + versionBytes            // bytes of a final state without its marks (hashes of tallies, see doc.go)
)

// Describe returns a clause that tells people the state of a URL: "waits at depth 2 after
// 0 attempts".
func (f *Frontier) Describe(ctx context.Context, id layout.Identity) (string, error) {
	state, err := f.rdb.HGet(ctx, f.key("known"), string(id[:])).Result()
	if errors.Is(err, redis.Nil) {
		return "it does not know the URL", nil
	}
	if err != nil {
		return "", f.failed("look into", err)
	}
	text, ok := describe(state)
	if !ok {
		return "", f.failed("look into", fmt.Errorf("state %q of %s is damaged", state, id))
	}
	return text, nil
}

// describe returns the text of Describe for a state as Redis holds it (see doc.go), or
// false if the state has too few bytes.
func describe(state string) (string, bool) {
	if state == "" {
		return "", false
	}
	text, rest, ok := "", state, true
	switch state[0] {
	case 'w', 'W':
		if _, rest, ok = cut(state, pendingBytes); ok {
			text = fmt.Sprintf("waits at depth %d after %d attempts", int(state[1])<<8|int(state[2]), state[4])
		}
	case 'p':
		if _, rest, ok = cut(state, pendingBytes); ok {
			text = fmt.Sprintf("is parked at depth %d after %d attempts: its collection has as many pages as it may", int(state[1])<<8|int(state[2]), state[4])
		}
	case 'l', 'L':
		if _, rest, ok = cut(state, leasedBytes); ok {
			text = "is out with batch " + state[pendingBytes:leasedBytes]
		}
	}
	if !ok || text != "" && rest == "" {
		return text, ok
	}
	decided, _, ok := cut(rest, finalBytes)
	if !ok {
		return "", false
	}
	if text != "" {
		text += ", again: it "
	}
	return text + "was decided by batch " + decided[3:], true
}
