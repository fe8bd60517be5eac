package simulation

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// runnersMost is the maximum number of runners with databases in one Redis.
const runnersMost = 2

// memories holds clients of the databases of a Redis, two for each runner: its own, and an
// older copy of it. Several worlds use them, one after another.
type memories [2 * runnersMost]*redis.Client

// newMemories starts a Redis: redis-server if it is installed, because it is faster.
func newMemories(t *testing.T) *memories {
	t.Helper()
	first := redistest.Embedded
	if program, err := exec.LookPath("redis-server"); err == nil {
		first = func(t testing.TB) *redis.Client { return redistest.Server(t, program) }
	}
	client := first(t)
	m := &memories{client}
	for n := 1; n < len(m); n++ {
		options := client.Options()
		m[n] = redis.NewClient(&redis.Options{Network: options.Network, Addr: options.Addr, DB: n})
		t.Cleanup(func() { m[n].Close() })
	}
	return m
}

// clear empties all databases and deletes the scripts, so that every world begins with the same
// Redis.
func (m *memories) clear(ctx context.Context) error {
	if err := m[0].ScriptFlush(ctx).Err(); err != nil {
		return err
	}
	return m[0].FlushAll(ctx).Err()
}

// hook lets the world decide about every call of a process to Redis.
type hook struct{ process *process }

// connecting are the commands that the client sends on a new connection. The world does not
// decide about them, because earlier worlds determine when they are sent.
var connecting = []string{"hello", "client", "select"}

// DialHook implements redis.Hook.
func (h hook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		if slices.Contains(connecting, command.Name()) {
			return next(ctx, command)
		}
		return fail(h.process.do(memory, describe(command), func() error { return next(ctx, command) }), command)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (h hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		if slices.Contains(connecting, commands[0].Name()) {
			return next(ctx, commands)
		}
		what := "pipeline of " + describe(commands[min(1, len(commands)-1)]) // the first command may be MULTI
		return fail(h.process.do(memory, what, func() error { return next(ctx, commands) }), commands...)
	}
}

// describe returns the name of a command and its first key, by which concurrent calls of one
// process differ.
func describe(command redis.Cmder) string {
	at, args := 1, command.Args()
	if name := command.Name(); name == "evalsha" || name == "eval" {
		at = 3 // the first key follows the script and the number of keys
	}
	if len(args) <= at {
		return command.Name()
	}
	return fmt.Sprint(command.Name(), " ", args[at])
}

// fail sets the error of commands whose answer was lost.
func fail(err error, commands ...redis.Cmder) error {
	if errors.Is(err, errNoAnswer) {
		for _, command := range commands {
			command.SetErr(err)
		}
	}
	return err
}
