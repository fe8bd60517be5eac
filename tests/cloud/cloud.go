package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob/s3blob"
	"github.com/bucketsearch/bucketsearch/local/s3"
)

// Options say what runs the stack.
type Options struct {
	Template   string            // path of the template
	Parameters map[string]string // values of the template's parameters; those that are missing have their default values
	Functions  string            // folder with the functions' binaries, each named as in CodeUri
	Dir        string            // folder for the object store, whose buckets stay there, and for files of functions
	// Alone is true if a function has only one invocation at a time, whatever the template says: then the number of
	// requests depends less on the speed of the machine.
	Alone bool
	// Elsewhere is the queue, by its name in package task, whose messages invoke no function, because a program outside of
	// the stack receives them; "" if there is none.
	Elsewhere string
	Store     s3.Command // command line of the object store
	Redis     string     // address of a Redis Cluster, such as 127.0.0.1:6379
	Log       io.Writer  // gets the output of the functions
}

// Cloud is a running stack.
type Cloud struct {
	Bucket *s3blob.Bucket // bucket of the stack, for its owner: requests are neither checked nor counted
	Store  string         // URL of the object store, for the same
	URL    string         // URL of the search page, without a slash at the end: that of the function query, or of the server before it

	bucket        string // name of the bucket
	notifications []notification
	rules         map[string]rule // of EventBridge
	clocks        map[string]clock
	functions     map[string]*function
	aliases       map[string]*function // by the ARN of the alias
	front         *distribution        // server before the function query; nil if there is none
	queues        *queues
	access        *access
	meter         *meter
	stop          []func() // ends what Start has started; the last function is called first

	puts, putBytes atomic.Int64 // number and bytes of all objects that were ever stored

	hidden  atomic.Int64 // number of messages that functions have reported as failed
	ticking atomic.Int64 // number of invocations by clocks that have not ended

	mu     sync.Mutex // protects the field failed
	failed []string
}

// clock is a schedule of the template.
type clock struct {
	ScheduleExpression string
	Target             struct{ Arn, RoleArn, Input string }
}

// Start starts the stack of a template. ctx limits Start only.
func Start(ctx context.Context, o Options) (_ *Cloud, err error) {
	c := &Cloud{
		functions: make(map[string]*function), aliases: make(map[string]*function), access: &access{statements: make(map[string][]statement), denials: make(map[string]int)},
		meter: &meter{used: make(bill)},
	}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	host, port, err := net.SplitHostPort(o.Redis)
	if err != nil {
		return nil, err
	}
	t, err := readTemplate[template](o.Template, map[string]string{"RedisServerless.Endpoint.Address": host, "RedisServerless.Endpoint.Port": port}, o.Parameters)
	if err != nil {
		return nil, err
	}
	if err := c.grant(t); err != nil {
		return nil, err
	}
	if c.queues, err = newQueues(t, c.access, c.meter); err != nil {
		return nil, err
	}
	if c.clocks, err = resourcesOf[clock](t, "AWS::Scheduler::Schedule"); err != nil {
		return nil, err
	}
	objects, err := c.startStore(ctx, t, o)
	if err != nil {
		return nil, err
	}
	if err := c.startFunctions(ctx, t, o, objects); err != nil {
		return nil, err
	}
	if err := c.startFront(t); err != nil {
		return nil, err
	}
	return c, c.startMappings(t, o)
}

// Credentials of the object store, for its owner and for all functions.
const (
	accessKey = "bucketsearch"
	secretKey = "bucketsearch-secret"
)

// serve serves a handler on this machine, and returns its URL.
func (c *Cloud) serve(handler http.Handler) (url string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // always ends with ErrServerClosed
	c.stop = append(c.stop, func() { _ = server.Close() })
	return "http://" + listener.Addr().String(), nil
}

// fail records that an invocation has failed.
func (c *Cloud) fail(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = append(c.failed, text)
}

// Failed returns a sentence for each invocation that has failed, and for each kind of request that was refused because
// the template does not allow it.
func (c *Cloud) Failed() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(c.access.denied(), c.failed...)
}

// Tick makes a clock (schedule) of the template tick once: it invokes a function. Tick does not wait until the function
// has ended.
func (c *Cloud) Tick(name string) error {
	ticking, found := c.clocks[name]
	if !found {
		return fmt.Errorf("the template has no clock %s", name)
	}
	role := strings.TrimSuffix(ticking.Target.RoleArn, ".Arn")
	c.meter.add(role, usage{Ticks: 1})
	f, found := c.aliases[ticking.Target.Arn]
	if !found {
		return fmt.Errorf("clock %s invokes %s, which is no alias of the template", name, ticking.Target.Arn)
	}
	if !c.access.allows(role, "lambda:InvokeFunction", ticking.Target.Arn) {
		return nil
	}
	c.ticking.Add(1)
	go func() {
		defer c.ticking.Add(-1)
		if _, err := f.invoke(context.Background(), []byte(ticking.Target.Input)); err != nil {
			c.fail(fmt.Sprintf("%s: %v", f.name, err))
		}
	}()
	return nil
}

// Await waits until clocks and queues are idle and done returns true. It fails when an invocation fails, or when ctx ends.
//
// An idle queue has no messages but those that functions have reported as failed. They come again after the visibility
// timeout, which is longer than any test. The queue of pack may also have a reminder, which comes after a minute.
func (c *Cloud) Await(ctx context.Context, done func() (bool, error)) error {
	for {
		if failed := c.Failed(); len(failed) > 0 {
			return errors.New(strings.Join(failed, "\n"))
		}
		if c.idle() {
			if ended, err := done(); err != nil || ended {
				return err
			}
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%w; messages wait: %v", context.Cause(ctx), c.waiting())
		}
	}
}

func (c *Cloud) idle() bool {
	if c.ticking.Load() > 0 {
		return false
	}
	hidden := c.hidden.Load()
	for name, q := range c.queues.set {
		counts := q.Counts()
		if counts.Visible > 0 || counts.Delayed > 0 && name != stackName+"-pack" {
			return false
		}
		hidden -= int64(counts.InFlight)
	}
	return hidden >= 0
}

// waiting returns the bodies of the messages in all queues, by the queue's name.
func (c *Cloud) waiting() map[string][]string {
	bodies := make(map[string][]string)
	for name, q := range c.queues.set {
		if waiting := q.Bodies(); len(waiting) > 0 {
			bodies[name] = waiting
		}
	}
	return bodies
}

// Close ends everything that Start has started.
func (c *Cloud) Close() {
	for len(c.stop) > 0 {
		last := len(c.stop) - 1
		c.stop[last]()
		c.stop = c.stop[:last]
	}
}
