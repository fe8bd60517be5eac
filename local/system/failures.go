package system

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// failures records which functions of this process fail, and why. It is safe for
// concurrent use; the zero value is ready to use.
type failures struct {
	mu     sync.Mutex              // protects byName
	byName map[string]failureCount // by function; without those whose last invocation succeeded
}

// failureCount is the last failure of a function.
type failureCount struct {
	err   error
	times int // number of failures in a row
}

// lasting is the number of failures in a row from which on they are shown to people,
// because the next try after a single failure often succeeds. A partition.Fault is shown at
// once: it lasts until somebody repairs the bucket.
const lasting = 2

// watch wraps the handler of a function: its failures are recorded until an invocation
// succeeds. Messages that the function postpones (message.Later), and invocations that were
// stopped, are no failures.
func (f *failures) watch(name string, handle message.Handler) message.Handler {
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		ignored := name == task.Sweep && isRetry(event) // the sweep does nothing for such a message, so that its success tells nothing
		var mu sync.Mutex                               // protects the variables below: some functions handle messages concurrently
		var reason error
		listening := message.Listen(ctx, message.Listener{Failed: func(_ events.SQSMessage, err error) {
			mu.Lock()
			defer mu.Unlock()
			if message.IsLater(err) {
				ignored = true
			} else {
				reason = err
			}
		}})
		response, err := handle(listening, event)
		if failed := cmp.Or(err, reason); ctx.Err() == nil && (failed != nil || !ignored) {
			f.note(name, failed)
		}
		return response, err
	}
}

// isRetry reports whether a message of the event is delivered again.
func isRetry(event events.SQSEvent) bool {
	return slices.ContainsFunc(event.Records, func(m events.SQSMessage) bool { return m.Attributes["ApproximateReceiveCount"] > "1" })
}

// note records the result of an invocation; nil is a success.
func (f *failures) note(name string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		delete(f.byName, name)
		return
	}
	if f.byName == nil {
		f.byName = make(map[string]failureCount)
	}
	f.byName[name] = failureCount{err, f.byName[name].times + 1}
}

// sentences returns a sentence for each partition.Fault, and for each function that has
// failed at least lasting times in a row. The same sentence comes once.
func (f *failures) sentences() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.byName)) {
		failure := f.byName[name]
		sentence := name + " fails: " + strings.ReplaceAll(failure.err.Error(), "\n", "; ")
		if fault, is := errors.AsType[*partition.Fault](failure.err); is {
			sentence = fault.Error()
		} else if failure.times < lasting {
			continue
		}
		if !slices.Contains(all, sentence) {
			all = append(all, sentence)
		}
	}
	return all
}

// faultOf returns the partition.Fault with which a function failed last, nil if there is
// none.
func (f *failures) faultOf(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault, is := errors.AsType[*partition.Fault](f.byName[name].err); is {
		return fault
	}
	return nil
}

// Failing returns a sentence for each function of this process that fails repeatedly, or
// for a lasting reason.
func (s *System) Failing() []string { return s.failures.sentences() }

// stuck returns the partition.Fault that keeps a crawl from going on, nil if there is none.
// err is that of Progress: either it is the fault, because generations are lost; or the
// frontier is not built, and the fault is that of the sweep, which cannot rebuild it.
func (s *System) stuck(err error) error {
	if fault, is := errors.AsType[*partition.Fault](err); is {
		return fault
	}
	if errors.Is(err, frontier.ErrNotBuilt) {
		return s.failures.faultOf(task.Sweep)
	}
	return nil
}
