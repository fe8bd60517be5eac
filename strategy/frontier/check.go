package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// layoutVersion is the version of the keys and bytes that doc.go describes. It is part
// of the values of the keys epoch and settings, so that a program with another layout
// rejects the frontier.
const layoutVersion = "8"

// ErrTokens means that two batches could get the same token (number). Tokens come from a counter in
// Redis, which the frontiers of all partitions share. Redis has lost this counter, or holds an old
// value that is lower than the token of a lease. ErrTokens wraps ErrNotBuilt.
var ErrTokens = fmt.Errorf("%w: Redis has lost which tokens were given", ErrNotBuilt)

// ErrSettings means that the frontier is complete, but was built under other settings than
// the caller's. It wraps ErrNotBuilt.
var ErrSettings = fmt.Errorf("%w: it was built under other settings", ErrNotBuilt)

func epochValue(epoch uint64) string { return layoutVersion + ":" + strconv.FormatUint(epoch, 10) }

func settingsValue(settings string) string { return layoutVersion + ":" + settings }

// parseEpoch returns the epoch in the value of the key epoch, such as 17 in "3:17". It fails
// with ErrNotBuilt if the value begins with another number than layoutVersion.
func parseEpoch(value string) (uint64, error) {
	version, number, _ := strings.Cut(value, ":")
	if version != layoutVersion {
		return 0, fmt.Errorf("%w: it was built by another version of the program", ErrNotBuilt)
	}
	return strconv.ParseUint(number, 10, 64)
}

// Check returns no error if the frontier is open, complete, and built under these settings. Otherwise
// the error wraps ErrNotBuilt and says what is wrong, or comes from Redis. Check also returns the
// frontier's epoch with the highest token of its leases. This version is valid if there is no error,
// or if the error wraps ErrSettings.
//
// Redis may lose single keys. Check counts the entries under the frontier's keys, and compares the
// sums with counters. So it finds the loss of any key, with two exceptions. The loss of a queue is
// noticed only when Lease or Settle comes to the queue's host; then the next Check fails. The loss of
// the time that Shut has set is never noticed.
//
// Redis may also restart with older contents. Then Check returns no error, but a lower version than
// before. The caller can notice this by comparing the versions of two calls.
func (f *Frontier) Check(ctx context.Context, settings string) (layout.Version, error) {
	newest, err := f.check(ctx, settings)
	return newest, f.wrap("use", err)
}

func (f *Frontier) check(ctx context.Context, settings string) (newest layout.Version, err error) {
	answer, err := New(f.rdb, f.partition).run(ctx, checkScript, layoutVersion, settingsValue(settings)).Slice()
	if err != nil {
		return newest, err
	}
	if len(answer) != 3 {
		return newest, fmt.Errorf("unexpected answer %v", answer)
	}
	wrong, _ := answer[0].(string)
	epoch, _ := answer[1].(string)
	tok, _ := answer[2].(int64)
	if wrong != "" && wrong != "settings" {
		return newest, fmt.Errorf("%w: %s", ErrNotBuilt, wrong)
	}
	newest.Token = uint64(tok)
	if newest.Epoch, err = strconv.ParseUint(epoch, 10, 64); err != nil {
		return newest, err
	}
	fix, err := f.rdb.SIsMember(ctx, openedKey, f.partition).Result()
	if err != nil {
		return newest, err
	}
	given, err := Given(ctx, f.rdb) // read after the answer, so that it is no lower than the answer's token
	switch {
	case err != nil:
	case !fix:
		err = fmt.Errorf("%w: Redis has lost that it was opened", ErrNotBuilt)
	case given < newest.Token:
		err = ErrTokens
	case wrong != "":
		err = ErrSettings
	}
	return newest, err
}

// Given returns the last token given to a batch of any partition, 0 if there is none.
func Given(ctx context.Context, rdb redis.UniversalClient) (uint64, error) {
	given, err := rdb.Get(ctx, tokens).Uint64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot read the last token: %w", err)
	}
	return given, nil
}

// Built returns nil if the frontier is open, complete, and built under these settings, else
// an error that says what is wrong (see Check).
func (f *Frontier) Built(ctx context.Context, settings string) error {
	_, err := f.Check(ctx, settings)
	return err
}

// AllBuilt reports whether the frontiers of all given crawl partitions are built, each under whatever settings: none is
// new, invalidated or being rebuilt. AllBuilt does not check whether they are complete (see Check).
func AllBuilt(ctx context.Context, rdb redis.UniversalClient, crawl []int) (bool, error) {
	var built []*redis.IntCmd
	_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, partition := range crawl {
			built = append(built, p.Exists(ctx, New(rdb, partition).key("settings")))
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("cannot tell which frontiers are built: %w", err)
	}
	return !slices.ContainsFunc(built, func(exists *redis.IntCmd) bool { return exists.Val() == 0 }), nil
}
