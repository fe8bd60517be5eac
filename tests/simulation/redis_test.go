package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// runnersMost is the maximum number of runners (complete sets of functions) in a simulation,
// each with databases of its own in one Redis.
const runnersMost = 2

// memories holds clients of one Redis server, each for another database. Every runner (a complete
// set of functions) has two databases: one for its work, and one for an older copy of the first.
// Several simulations use these clients, one after another.
type memories [2 * runnersMost]*redis.Client

// newMemories starts a redis-server.
func newMemories(t *testing.T) *memories {
	t.Helper()
	client := redistest.Server(t)
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

// hook makes every call of a process to Redis wait for the world (the simulation), which may
// let it fail.
type hook struct{ process *process }

// connecting are the commands that the client sends only on a new connection. They do not count as
// calls of the simulation. Whether the client makes a new connection depends on those that earlier
// simulations have left open. So if these commands counted, the same seed would not always give the
// same calls.
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

// describe returns a text with the name of a command and its first key. The key makes the texts of
// concurrent calls of one process differ, even if the command is the same.
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

// fail returns the error of a call to Redis. If the error is errNoAnswer, the commands may have been
// executed nevertheless, and then hold their results. The caller must not see these results, because
// in the simulation the answer was lost. Therefore fail also sets the error of each command.
func fail(err error, commands ...redis.Cmder) error {
	if errors.Is(err, errNoAnswer) {
		for _, command := range commands {
			command.SetErr(err)
		}
	}
	return err
}
