package frontier

import (
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Settings returns the fingerprint of the settings under which the frontier was built, as the last call of Open or
// Move set it, and the note about these settings (see Note). Both are "" if the frontier is not open.
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

// Note stores a text about the settings under which the frontier was built, for the callers. The frontier itself
// does not use it. It may be lost, so nothing may depend on it.
func (f *Frontier) Note(ctx context.Context, note string) error {
	return f.wrap("note the settings of", f.rdb.Set(ctx, f.key("note"), note, 0).Err())
}

// Move records that the frontier now counts as built under the settings with the fingerprint in the parameter to.
// If the recorded fingerprint is not the parameter from, Move changes nothing and returns false.
func (f *Frontier) Move(ctx context.Context, from, to string) (bool, error) {
	err := f.Under(from).run(ctx, moveScript, settingsValue(to)).Err()
	if errors.Is(err, ErrNotBuilt) {
		return false, nil
	}
	return err == nil, f.wrap("move", err)
}

// generation returns the random text in the names of the present queues, which Reset changes; "" before the first
// Reset.
func (f *Frontier) generation(ctx context.Context) (string, error) {
	generation, err := f.rdb.Get(ctx, f.key("generation")).Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	return generation, err
}
