package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// mapping invokes a function with the messages of a queue, as Lambda's event source mapping does. A message that
// the function reports as failed is not given back: it comes again after the queue's visibility timeout.
type mapping struct {
	EventSourceArn, FunctionName   string
	BatchSize                      int
	MaximumBatchingWindowInSeconds int
	ScalingConfig                  struct{ MaximumConcurrency int }

	queues   *queues
	function *function
	failed   func(text string) // is called for each failed invocation
	hidden   *atomic.Int64     // number of messages that the function has reported as failed
}

// pollTime is the time between two looks into an empty queue. The meter does not count these looks, because on AWS a
// poller waits 20 seconds for a message.
const pollTime = 5 * time.Millisecond

// haste is how many times faster than on AWS a batching window ends, so that tests are short.
const haste = 10

// run invokes the function until ctx ends.
func (m *mapping) run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, m.ScalingConfig.MaximumConcurrency)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		batch := m.await(ctx)
		if batch == nil {
			return
		}
		running.Go(func() {
			defer func() { <-slots }()
			m.invoke(ctx, batch)
		})
	}
}

// await waits until the queue has messages, and until there are BatchSize of them or the window has ended. It returns
// nil if ctx ends first.
func (m *mapping) await(ctx context.Context) (batch []events.SQSMessage) {
	var full time.Time
	for {
		batch = append(batch, m.queues.set[nameOf(m.EventSourceArn)].Receive(m.BatchSize-len(batch))...)
		if len(batch) > 0 && full.IsZero() {
			full = time.Now().Add(time.Duration(m.MaximumBatchingWindowInSeconds) * time.Second / haste)
		}
		if len(batch) == m.BatchSize || len(batch) > 0 && !time.Now().Before(full) {
			return batch
		}
		select {
		case <-time.After(pollTime):
		case <-ctx.Done():
			return nil
		}
	}
}

// invoke invokes the function with a batch, and deletes the messages that it does not report as failed.
func (m *mapping) invoke(ctx context.Context, batch []events.SQSMessage) {
	for _, action := range []string{"ReceiveMessage", "DeleteMessage", "GetQueueAttributes"} {
		if !m.queues.access.allows(m.function.name, "sqs:"+action, m.EventSourceArn) {
			return
		}
	}
	m.queues.meter.add(m.function.name, usage{Messages: batchRequests(batch)})
	payload, _ := json.Marshal(events.SQSEvent{Records: batch})
	answer, err := m.function.invoke(ctx, payload)
	var response events.SQSEventResponse
	if err == nil {
		err = json.Unmarshal(answer, &response)
	}
	if err != nil {
		m.failed(fmt.Sprintf("%s: %v", m.function.name, err))
		return
	}
	failed := make(map[string]bool)
	for _, f := range response.BatchItemFailures {
		failed[f.ItemIdentifier] = true
	}
	for _, one := range batch {
		if failed[one.MessageId] {
			m.hidden.Add(1)
			continue
		}
		m.queues.set[nameOf(m.EventSourceArn)].Delete(one.ReceiptHandle)
	}
}

// batchRequests returns as how many requests SQS bills a batch that is received and deleted: one request handles up to ten
// messages, and each 64 KiB that are received count as one.
func batchRequests(batch []events.SQSMessage) (n int) {
	for ten := range slices.Chunk(batch, 10) {
		var bodies strings.Builder
		for _, one := range ten {
			bodies.WriteString(one.Body)
		}
		n += chunks(bodies.String()) + 1
	}
	return n
}

// startMappings starts to invoke functions with the messages of their queues.
func (c *Cloud) startMappings(t template, o Options) error {
	mappings, err := resourcesOf[mapping](t, "AWS::Lambda::EventSourceMapping")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	c.stop = append(c.stop, func() { cancel(); running.Wait() })
	for name, m := range mappings {
		if nameOf(m.EventSourceArn) == stackName+"-"+o.Elsewhere {
			continue
		}
		if o.Alone {
			m.ScalingConfig.MaximumConcurrency = 1
		}
		m.queues, m.function, m.failed, m.hidden = c.queues, c.aliases[m.FunctionName], c.fail, &c.hidden
		if m.function == nil || c.queues.set[nameOf(m.EventSourceArn)] == nil {
			return fmt.Errorf("%s connects %s with %s, and one of them does not exist", name, m.EventSourceArn, m.FunctionName)
		}
		running.Go(func() { m.run(ctx) })
	}
	return nil
}
