// Package functionstest has helpers for the tests of all functions: a clock that tests advance, a
// sender that records messages, settings of a new bucket, and objects to put into it.
package functionstest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Start is the time at which every Clock starts.
var Start = time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC)

// Collection is the name of the collection that Publish publishes.
const Collection = "test"

// Clock is a clock for tests, which advances only by Sleep and Advance. It is safe for concurrent
// use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock at Start.
func NewClock() *Clock { return &Clock{now: Start} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance advances the clock by a duration.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Sleep advances the clock and returns immediately.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	c.Advance(d)
	return ctx.Err()
}

// Message is a message that a Sender has recorded.
type Message struct {
	Queue string
	Body  string
	Delay time.Duration
}

// Sender records messages instead of sending them. It is safe for concurrent use.
type Sender struct {
	mu   sync.Mutex
	sent []Message
	err  error
}

// Send implements task.Sender: it records the message.
func (s *Sender) Send(_ context.Context, queue string, body []byte, delay time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.sent = append(s.sent, Message{queue, string(body), delay})
	return nil
}

// Fail makes Send return the error from now on; with nil, Send succeeds again.
func (s *Sender) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Take returns the messages recorded since the last call of Take.
func (s *Sender) Take() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.sent
	s.sent = nil
	return sent
}

// Log returns a logger that discards everything.
func Log() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Publish publishes strategies (rules that divide URLs among partitions) with the given number of
// partitions, and a collection named Collection, which crawls the sites of the seeds without a
// delay and without a limit of depth. If change is not nil, it may change the collection first.
// Publish returns the settings in force.
func Publish(t testing.TB, bucket blob.Bucket, partitions int, change func(*collection.Collection), seeds ...string) *settings.Settings {
	t.Helper()
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		if err := rules.Publish(t.Context(), bucket, rules.Even(kind, partitions, Start)); err != nil {
			t.Fatal(err)
		}
	}
	c := collection.Collection{Name: Collection, HostConnections: 1, Agent: "testbot/1.0"}
	for _, seed := range seeds {
		c.Seeds = append(c.Seeds, collection.Seed{URL: seed, Scope: collection.Site, Depth: collection.Unlimited})
	}
	return Republish(t, bucket, c, change)
}

// Republish publishes the collection again. If change is not nil, it changes the collection first.
// Republish returns the settings in force.
func Republish(t testing.TB, bucket blob.Bucket, c collection.Collection, change func(*collection.Collection)) *settings.Settings {
	t.Helper()
	if change != nil {
		change(&c)
	}
	if _, err := collection.Publish(t.Context(), bucket, c); err != nil {
		t.Fatal(err)
	}
	s, err := settings.Read(t.Context(), bucket, Start)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Fixed is a source of settings which always returns the same ones. The zero value has no collections.
type Fixed settings.Settings

// Get returns the fixed settings.
func (f *Fixed) Get(context.Context) (*settings.Settings, error) { return (*settings.Settings)(f), nil }
