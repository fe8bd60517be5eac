package sweep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
)

// nearlyFull is the fraction of Redis' memory that may be used before noteMemory notes it.
const nearlyFull = 0.8

var memoryLine = regexp.MustCompile(`(?m)^(used_memory|maxmemory):(\d+)`)

// noteMemory notes if Redis has used most of the memory that it may use. When Redis has used all of it, it
// refuses writes; then the messages of functions that need them come again until there is room. A Redis
// without a limit is never full, and the embedded one does not say.
func (f *Function) noteMemory(ctx context.Context) error {
	info, err := f.Redis.Info(ctx, "memory").Result()
	if _, refused := errors.AsType[redis.Error](err); refused {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read the memory of Redis: %w", err)
	}
	bytes := make(map[string]float64)
	for _, line := range memoryLine.FindAllStringSubmatch(info, -1) {
		bytes[line[1]], _ = strconv.ParseFloat(line[2], 64)
	}
	used, most := bytes["used_memory"], bytes["maxmemory"]
	what := vitals.RedisNearlyFull
	switch {
	case most <= 0 || used < nearlyFull*most:
		return nil
	case used > most:
		what = vitals.RedisFull
	}
	message.Note(ctx, what, slog.Float64("used", used), slog.Float64("most", most))
	return nil
}
