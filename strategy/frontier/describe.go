package frontier

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Describe says in words for people what the frontier knows of one URL.
func (f *Frontier) Describe(ctx context.Context, id layout.Identity) (string, error) {
	state, err := f.rdb.HGet(ctx, f.key("known"), string(id[:])).Result()
	if errors.Is(err, redis.Nil) {
		return "it does not know the URL", nil
	}
	if err != nil {
		return "", f.failed("look into", err)
	}
	switch {
	case len(state) == 5 && state[0] == 'w':
		return fmt.Sprintf("waits at depth %d after %d attempts", int(state[1])<<8|int(state[2]), state[3]), nil
	case len(state) > 5 && state[0] == 'l':
		return "is out with batch " + state[5:], nil
	case len(state) > 3:
		return "was decided by batch " + state[3:], nil
	}
	return "", f.failed("look into", fmt.Errorf("state %q of %s is damaged", state, id))
}
