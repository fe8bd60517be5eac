package frontier

import (
	"context"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/run"
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
