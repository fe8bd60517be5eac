package system

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	byName map[string]failureCount // functions whose last invocation failed, by name (see subject)
}

// failureCount holds the last error of a function, and how often it has failed in a row.
type failureCount struct {
	err   error
	times int // number of failures in a row
}

// lasting is the number of failures in a row after which the last error of a function is shown to
// people. A single failure is not shown, because the next try often succeeds. But a partition.Fault
// is shown immediately: it lasts until somebody repairs the bucket.
const lasting = 2

// watch returns a handler that calls the given one, and records whether the named function fails. A
// success deletes the record of earlier failures. Three kinds of invocations are not recorded: one
// that was stopped, one in which the function only postponed messages (message.Later), and one in
// which the sweep got a message that was delivered before, and therefore did nothing.
func (f *failures) watch(name string, handle message.Handler) message.Handler {
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		ignored := name == task.Sweep && isRetry(event) // the sweep does nothing for a repeated message, so that its success says nothing
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
			f.note(subject(name, event), failed)
		}
		return response, err
	}
}

// subject returns the name under which the result of an invocation is recorded. It is the name of the function, and
// for a sweep of one partition also the partition: its success says nothing about the others.
func subject(name string, event events.SQSEvent) string {
	for _, m := range event.Records {
		if t, isTask := message.Task[task.Clean](m.Body); name == task.Sweep && isTask && t.Storage != nil {
			return fmt.Sprintf("%s of partition %s", name, *t.Storage)
		}
	}
	return name
}

// isRetry reports whether any message of the event is delivered for the second time or later.
func isRetry(event events.SQSEvent) bool {
	return slices.ContainsFunc(event.Records, func(m events.SQSMessage) bool { return m.Attributes["ApproximateReceiveCount"] > "1" })
}

// note records the result of an invocation of a function: err, or success if err is nil.
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

// sentences returns the errors that people should see, each as one sentence, without repetitions.
// Every partition.Fault (lost or damaged manifests or books) is among them. Any other error of a
// function is among them only if the function has failed twice in a row or more (see lasting).
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

// faultOf returns the last error of the function with this name if it is a partition.Fault, an
// error about lost or damaged manifests or books; otherwise nil.
func (f *failures) faultOf(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault, is := errors.AsType[*partition.Fault](f.byName[name].err); is {
		return fault
	}
	return nil
}

// Failing returns a sentence for each function of this process that has failed repeatedly, and
// for each partition.Fault (lost or damaged manifests or books) with which a function has
// failed.
func (s *System) Failing() []string { return s.failures.sentences() }

// stuck returns the partition.Fault (lost or damaged manifests or books) that keeps a crawl from
// going on; nil if there is none. The result depends on err, the error of Progress:
//
//	err                        result
//	a Fault                    this Fault
//	frontier.ErrNotBuilt       the last Fault of the sweep, which rebuilds frontiers
//	nil or any other error     nil
func (s *System) stuck(err error) error {
	if fault, is := errors.AsType[*partition.Fault](err); is {
		return fault
	}
	if errors.Is(err, frontier.ErrNotBuilt) {
		return s.failures.faultOf(task.Sweep)
	}
	return nil
}
