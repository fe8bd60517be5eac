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
	mu     sync.Mutex // protects byName
	byName map[string]failureCount
}

type failureCount struct {
	err   error
	times int // in a row
}

// lasting is the number of failures in a row that people are told of: one failure is often
// mended by the next try. A partition.Fault is told at once, because it lasts.
const lasting = 2

// watch returns the handler of a function, with its failures recorded until an invocation
// succeeds. An invocation that came too early or was stopped is no failure.
func (f *failures) watch(name string, handle message.Handler) message.Handler {
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		ignored := name == task.Sweep && isRetry(event) // which sweep leaves to the clock, and takes out of the event
		var mu sync.Mutex                               // some functions run messages at the same time
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

func isRetry(event events.SQSEvent) bool {
	return slices.ContainsFunc(event.Records, func(m events.SQSMessage) bool { return m.Attributes["ApproximateReceiveCount"] > "1" })
}

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

// sentences returns the failures as sentences, without repetitions.
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

// faultOf returns the partition.Fault for which a function fails, or nil.
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

// stuck returns the partition.Fault in an error of Progress that stops a crawl:
// generations are lost, or the sweep cannot rebuild the frontier.
func (s *System) stuck(err error) error {
	if fault, is := errors.AsType[*partition.Fault](err); is {
		return fault
	}
	if errors.Is(err, frontier.ErrNotBuilt) {
		return s.failures.faultOf(task.Sweep)
	}
	return nil
}
