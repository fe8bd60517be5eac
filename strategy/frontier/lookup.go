package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/run"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Decided returns those of the given URLs that are stored. It leaves out stored URLs
// that wait for another request or are leased again. The value of a URL is the version of the last
// batch that stored its page or found it unchanged.
func (f *Frontier) Decided(ctx context.Context, urls []run.URL) (map[layout.Identity]layout.Version, error) {
	return f.finals(ctx, urls, func(state string) (final string, wanted bool) { return state, state[0] == 's' })
}

// Failed returns those of the given URLs whose last final outcome is a failure, even if they wait for another
// request or are leased again. The value of a URL is the version of the batch in which it failed.
func (f *Frontier) Failed(ctx context.Context, urls []run.URL) (map[layout.Identity]layout.Version, error) {
	return f.finals(ctx, urls, func(state string) (final string, wanted bool) {
		switch state[0] {
		case 'W':
			state = state[min(pendingBytes, len(state)):]
		case 'L':
			state = state[min(leasedBytes, len(state)):]
		}
		return state, strings.HasPrefix(state, "f")
	})
}

// finals reads the states of the given URLs. It calls the function of with each state, which returns the final
// part of the state, and whether the URL is wanted. The result has the versions in the final parts of the wanted
// URLs.
func (f *Frontier) finals(ctx context.Context, urls []run.URL, of func(state string) (final string, wanted bool)) (map[layout.Identity]layout.Version, error) {
	states, err := f.states(ctx, urls)
	if err != nil {
		return nil, f.failed("look into", err)
	}
	by := make(map[layout.Identity]layout.Version, len(urls))
	for i, state := range states {
		if state == "" {
			continue
		}
		if final, wanted := of(state); wanted && len(final) >= finalBytes {
			by[urls[i].ID] = decodeVersion(final[1:])
		}
	}
	return by, nil
}

// states returns the states of URLs, whether Redis or a run holds them; "" for an unknown URL.
func (f *Frontier) states(ctx context.Context, urls []run.URL) ([]string, error) {
	free := f.another()
	var found []string
	for part := range slices.Chunk(urls, chunk) {
		args := make([]any, len(part))
		for i, u := range part {
			args[i] = string(u.ID[:])
		}
		states, err := statesOf(free.over(ctx, always(part), lookScript, args...), len(part))
		if err != nil {
			return nil, err
		}
		found = append(found, states...)
	}
	return found, nil
}

// statesOf returns the n states in an answer of the script look; "" for an unknown URL.
func statesOf(reply *redis.Cmd, n int) ([]string, error) {
	answer, err := reply.Slice()
	if err == nil && len(answer) != n {
		err = fmt.Errorf("unexpected answer of %d states, want %d", len(answer), n)
	}
	states := make([]string, len(answer))
	for i, state := range answer {
		states[i], _ = state.(string)
	}
	return states, err
}

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
