package stream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

// MaxMessages is the greatest number of messages in a queue. Beyond it, Send fails.
const MaxMessages = 100_000

// errFull is the error of Send for a queue that has MaxMessages messages.
var errFull = errors.New("it is full; do workers run that serve it?")

// keys are the keys of a queue in Redis.
func keys(queue string) []string {
	key := "bucketsearch:queue:{" + queue + "}"
	return []string{key, key + ":delayed"}
}

// sendScript adds a message. A Redis that has no free memory refuses that, unless the script has written before. But an
// empty queue must take a message, or nothing would ever make the function sweep begin, which makes room. So the script
// then first deletes a key that does not exist.
//
//	KEYS   stream, delayed
//	ARGV   body, delay in ms, random ID, greatest number of messages
//	result 1, or 0 if the queue is full
var sendScript = redis.NewScript(`
local messages = redis.call('XLEN', KEYS[1]) + redis.call('ZCARD', KEYS[2])
if messages >= tonumber(ARGV[4]) then
	return 0
end
if messages == 0 then
	redis.call('DEL', KEYS[2])
end
if tonumber(ARGV[2]) == 0 then
	redis.call('XADD', KEYS[1], '*', 'body', ARGV[1], 'receives', '0')
else
	local now = redis.call('TIME')
	redis.call('ZADD', KEYS[2], now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[2], ARGV[3] .. ':0:' .. ARGV[1])
end
return 1
`)

// Sender sends messages to the queues in a Redis. It is safe for concurrent use.
type Sender struct {
	rdb  redis.UniversalClient
	most int // greatest number of messages in a queue
}

// NewSender returns a sender to the queues in a Redis.
func NewSender(rdb redis.UniversalClient) *Sender { return &Sender{rdb, MaxMessages} }

// Send sends a body of at most message.MaxBody bytes to the named queue, to be delivered after the delay,
// which is rounded up to whole milliseconds and cut to message.MaxDelay. After an error the message may have
// been sent nevertheless.
func (s *Sender) Send(ctx context.Context, queue string, body []byte, delay time.Duration) error {
	if len(body) > message.MaxBody {
		return fmt.Errorf("cannot send to queue %s: a body of %d bytes is over the limit of %d", queue, len(body), message.MaxBody)
	}
	sent, err := sendScript.Run(ctx, s.rdb, keys(queue), body, milliseconds(min(delay, message.MaxDelay)), rand.Text(), s.most).Bool()
	if err == nil && !sent {
		err = errFull
	}
	if err != nil {
		return fmt.Errorf("cannot send to queue %s: %w", queue, err)
	}
	return nil
}

// waitingScript counts the messages that can be received and are not in flight.
//
//	KEYS   stream
//	ARGV   group
var waitingScript = redis.NewScript(`
local flying = redis.pcall('XPENDING', KEYS[1], ARGV[1])
return redis.call('XLEN', KEYS[1]) - (flying.err and 0 or flying[1])
`)

// Waiting returns the number of messages in the named queue that can be received now. Those that are in flight, or
// delayed, do not count.
func Waiting(ctx context.Context, rdb redis.UniversalClient, queue string) (int, error) {
	n, err := waitingScript.Run(ctx, rdb, keys(queue)[:1], group).Int()
	if err != nil {
		return 0, fmt.Errorf("cannot count the messages of queue %s: %w", queue, err)
	}
	return n, nil
}

// milliseconds returns a duration in milliseconds, rounded up; 0 if it is negative.
func milliseconds(d time.Duration) int64 {
	return int64((max(d, 0) + time.Millisecond - 1) / time.Millisecond)
}
