package vitals

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
)

// Options describe the process whose activity a Recorder records.
type Options struct {
	Worker  string           // name of the process, which no other process has
	Now     func() time.Time // function that returns the present time
	Memory  int              // MiB of memory that Lambda charges for; 0 elsewhere
	Metrics io.Writer        // receives a line of metrics for each function with every feedback; nil: none are written
	Stack   string           // name of the stack to which the metrics belong
}

// Recorder counts the activity of one process: the invocations of its functions, their requests,
// and the use of the machine. It is safe for concurrent use.
type Recorder struct {
	options Options
	born    time.Time
	traffic Traffic

	mu        sync.Mutex // protects the map r.functions and the values in it
	functions map[string]*functionState

	flushing sync.Mutex // protects the following fields
	flushed  reading    // values of all counters at the last feedback
	due      time.Time  // time at which the next feedback is due
	day      Day        // use of paid services by the process on the date in dayOf
	dayOf    string     // date to which the field day belongs, as layout.FeedbackDay writes it
	kept     *Feedback  // feedback that is still to be put into the bucket, or nil
}

// functionState has the counts of one function of the process: invocations, failures and so on.
type functionState struct {
	buckets     []*countblob.Bucket
	invocations int64
	failures    int64
	postponed   int64
	notes       map[string]int64
	inFlight    int64
	busy        time.Duration
	// for each bucket of the histogram of durations (see bucketOf), the number of invocations in it
	durations [len(bounds) + 1]int64
	lastError *LastError
}

// New returns the Recorder of a process that starts now.
func New(options Options) *Recorder {
	r := &Recorder{options: options, born: options.Now(), functions: make(map[string]*functionState)}
	r.due = r.born.Add(soonest)
	r.flushed = r.read()
	r.flushed.at = r.born
	return r
}

// Traffic returns the counter of the process's network traffic. Connections that
// are to be counted must be made or accepted through it.
func (r *Recorder) Traffic() *Traffic { return &r.traffic }

// Bucket returns a bucket that passes all requests on to another bucket, and counts them as requests
// of the named function. The other bucket (the parameter inner) must be the store itself, not a
// blob.Retry, so that every attempt is counted.
func (r *Recorder) Bucket(name string, inner blob.Bucket) blob.Bucket {
	counting := countblob.New(inner)
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.function(name)
	f.buckets = append(f.buckets, counting)
	return counting
}

var errUntold = errors.New("messages failed, and the function did not say why")

// Watch returns a handler that calls the given handler, and records each call as an invocation of the
// function with the given name.
//
//	the given handler                                        the invocation counts as
//	returns an error, panics, or fails a message             failed
//	fails messages only because they came too early          postponed
//	(message.IsLater)
func (r *Recorder) Watch(name string, handle message.Handler) message.Handler {
	return func(ctx context.Context, event events.SQSEvent) (response events.SQSEventResponse, err error) {
		var told int
		var reason, later error
		ctx = message.Listen(ctx, message.Listener{
			Failed: func(_ events.SQSMessage, failure error) {
				told++
				if message.IsLater(failure) {
					later = failure
				} else {
					reason = failure
				}
			},
			Noted: func(what string) { r.note(name, what) },
		})
		end := r.begin(name, int64(len(event.Records)))
		failure := errPanic // unless the handler returns
		defer func() { end(failure) }()
		response, err = handle(ctx, event)
		switch failure = cmp.Or(reason, later); {
		case err != nil:
			failure = err
		case len(response.BatchItemFailures) > told:
			failure = errUntold
		}
		return response, err
	}
}

func (r *Recorder) note(name, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.function(name)
	if f.notes == nil {
		f.notes = make(map[string]int64)
	}
	f.notes[what]++
}

var errPanic = errors.New("the function panicked")

// begin records that an invocation of the named function starts. The parameter messages is its
// number of messages. When the invocation ends, the caller must call the returned function end,
// with the error of the invocation, or nil.
func (r *Recorder) begin(name string, messages int64) (end func(failure error)) {
	began := r.options.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.function(name)
	f.inFlight += messages
	return func(failure error) {
		ended := r.options.Now()
		r.mu.Lock()
		defer r.mu.Unlock()
		f.inFlight -= messages
		f.invocations++
		took := max(0, ended.Sub(began))
		f.busy += took
		f.durations[bucketOf(took)]++
		switch {
		case message.IsLater(failure):
			f.postponed++
		case failure != nil:
			f.failures++
			f.lastError = &LastError{Text: message.Cut(failure.Error(), maxError), At: ended.UTC().Truncate(time.Millisecond)}
		}
	}
}

// function returns the state of the named function. It makes this state if there is none yet. The
// caller must hold mu.
func (r *Recorder) function(name string) *functionState {
	f := r.functions[name]
	if f == nil {
		f = new(functionState)
		r.functions[name] = f
	}
	return f
}

func (f *functionState) requests() countblob.Counts {
	var sum countblob.Counts
	for _, b := range f.buckets {
		sum = sum.Plus(b.Counts())
	}
	return sum
}
