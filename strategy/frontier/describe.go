package frontier

import (
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/run"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Describe returns a clause that tells people the state of a URL: "waits at depth 2 after
// 0 attempts".
func (f *Frontier) Describe(ctx context.Context, at address.Address) (string, error) {
	states, err := f.states(ctx, []run.URL{{Site: at.Place.Site(), ID: at.ID}})
	if err != nil {
		return "", f.failed("look into", err)
	}
	if states[0] == "" {
		return "it does not know the URL", nil
	}
	text, ok := describe(states[0])
	if !ok {
		return "", f.failed("look into", fmt.Errorf("state %q of %s is damaged", states[0], at.ID))
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
	if len(rest) < finalBytes {
		return "", false
	}
	if text != "" {
		text += ", again: it "
	}
	return text + "was decided by batch " + decodeVersion(rest[1:]).String(), true
}
