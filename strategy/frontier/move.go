package frontier

import (
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Settings returns the settings under which the frontier was built, as the callers of Open and Move gave
// them, and the note about them (see Note). Both are "" if the frontier is not open.
func (f *Frontier) Settings(ctx context.Context) (settings, note string, err error) {
	values, err := f.rdb.MGet(ctx, f.key("settings"), f.key("note")).Result()
	if err != nil {
		return "", "", f.failed("read the settings of", err)
	}
	value, _ := values[0].(string)
	note, _ = values[1].(string)
	layout, settings, _ := strings.Cut(value, ":")
	if layout != layoutVersion {
		return "", "", nil
	}
	return settings, note, nil
}

// Note keeps a text about the settings under which the frontier is built. The frontier makes no use of
// it, and nothing depends on it: it may be lost.
func (f *Frontier) Note(ctx context.Context, note string) error {
	return f.wrap("note the settings of", f.rdb.Set(ctx, f.key("note"), note, 0).Err())
}

// Move makes a frontier that was built under the settings from one that was built under the settings
// to. It returns false, and changes nothing, if the frontier is not one of the settings from.
func (f *Frontier) Move(ctx context.Context, from, to string) (bool, error) {
	err := f.Under(from).run(ctx, moveScript, settingsValue(to)).Err()
	if errors.Is(err, ErrNotBuilt) {
		return false, nil
	}
	return err == nil, f.wrap("move", err)
}

// generation returns the text in the names of the present queues (see Reset).
func (f *Frontier) generation(ctx context.Context) (string, error) {
	generation, err := f.rdb.Get(ctx, f.key("generation")).Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	return generation, err
}
