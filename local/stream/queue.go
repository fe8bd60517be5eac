package stream

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

const (
	// Visibility is the time after which a message of a worker that has died comes again.
	Visibility = 15 * time.Second

	firstBackoff = 100 * time.Millisecond // time from the first failure of a message until it comes again; it doubles with each further failure
	look         = time.Second            // time between two looks for messages that were delayed, or whose worker has died
	pause        = time.Second            // time between two attempts to reach a Redis that does not answer

	group    = "workers"
	consumer = "worker"
)

// Options are the settings of a Queue.
type Options struct {
	Name        string
	MaxReceives int           // number of receives after which a message that fails becomes a dead letter; at least 1
	MaxBackoff  time.Duration // longest time from a failure of a message until it comes again
	Visibility  time.Duration // 0 for the constant of this name
	// Dead is called for every dead letter, and returns whether the letter is stored. If it is not, the
	// message stays in the queue. The receives of a message whose workers have died count, too.
	Dead func(message.DeadLetter) bool
	Log  *slog.Logger
}

// Queue receives the messages of a queue in Redis; a Sender sends them. It is safe for concurrent use.
type Queue struct {
	options Options
	rdb     redis.UniversalClient
	keys    []string // of the stream and of the delayed messages

	mu   sync.Mutex      // protects held
	held map[string]item // messages that this process handles, by their IDs in the stream
}

// item is a message that this process handles.
type item struct {
	body     string
	receives int // number of its receives, this one included
}

// New returns the queue with the name options.Name in a Redis.
func New(rdb redis.UniversalClient, options Options) *Queue {
	if options.Visibility == 0 {
		options.Visibility = Visibility
	}
	return &Queue{options: options, rdb: rdb, keys: keys(options.Name), held: make(map[string]item)}
}

// Await waits until a message can be received, and receives up to limit messages. If ctx ends first, it
// returns none. While Redis does not answer, it tries again and again.
func (q *Queue) Await(ctx context.Context, limit int) []events.SQSMessage {
	failed := false
	for ctx.Err() == nil {
		batch, err := q.receive(ctx, limit)
		if len(batch) > 0 {
			return batch
		}
		if err != nil && ctx.Err() == nil {
			if !failed {
				q.options.Log.WarnContext(ctx, "no messages can be received", "queue", q.options.Name, "error", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
		failed = err != nil
	}
	return nil
}

// receive receives messages that were delayed or whose worker has died, or else waits for new ones for at
// most the time look.
func (q *Queue) receive(ctx context.Context, limit int) ([]events.SQSMessage, error) {
	claimed, err := claimScript.Run(ctx, q.rdb, q.keys, group, consumer, q.options.Visibility.Milliseconds(), limit).Slice()
	if err != nil {
		return nil, err
	}
	var batch []events.SQSMessage
	for _, each := range claimed {
		fields, _ := each.([]any)
		if len(fields) != 4 {
			return nil, fmt.Errorf("redis answers %v, which is no message", each)
		}
		if m, alive := q.hold(text(fields[0]), text(fields[1]), number(fields[2])+number(fields[3])); alive {
			batch = append(batch, m)
		}
	}
	if len(claimed) > 0 {
		return batch, nil
	}
	read, err := q.rdb.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: group, Consumer: consumer, Streams: []string{q.keys[0], ">"}, Count: int64(limit), Block: min(look, q.options.Visibility),
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, m := range read[0].Messages {
		if m, alive := q.hold(m.ID, text(m.Values["body"]), number(m.Values["receives"])+1); alive {
			batch = append(batch, m)
		}
	}
	return batch, nil
}

// claimScript moves delayed messages that are due into the stream, and claims messages that are in flight
// and idle for too long.
//
//	KEYS    stream, delayed
//	ARGV    group, consumer, idle time in ms, greatest number of messages
//	result  for each claimed message: ID, body, receives before it got into the stream, receives since then
var claimScript = redis.NewScript(`
redis.pcall('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
local now = redis.call('TIME')
local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now[1] * 1000 + math.floor(now[2] / 1000), 'LIMIT', 0, 100)
for _, member in ipairs(due) do
	local receives, body = string.match(member, '^[^:]*:(%d+):(.*)$')
	redis.call('ZREM', KEYS[2], member) -- first: a full Redis refuses XADD in a script that has written nothing yet
	redis.call('XADD', KEYS[1], '*', 'body', body, 'receives', receives)
end
local claimed = {}
for _, idle in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1], 'IDLE', ARGV[3], '-', '+', ARGV[4])) do
	local entries = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], idle[1])
	if entries[1] then
		local fields = entries[1][2]
		claimed[#claimed + 1] = {idle[1], fields[2], fields[4], idle[4] + 1}
	end
end
return claimed
`)

// hold notes that this process handles a message, and returns the message in the form in which Lambda gives
// it to a function. If it was received too often, because its workers have died, it becomes a dead letter,
// and alive is false.
func (q *Queue) hold(id, body string, receives int) (m events.SQSMessage, alive bool) {
	it := item{body, receives}
	if receives > q.options.MaxReceives {
		q.bury(id, it, fmt.Sprintf("its function died without a word: the message was neither deleted nor given back, and its worker kept it no more, for %v", q.options.Visibility))
		return m, false
	}
	q.mu.Lock()
	q.held[id] = it
	q.mu.Unlock()
	sum := md5.Sum([]byte(body))
	sent, _, _ := strings.Cut(id, "-")
	return events.SQSMessage{
		MessageId: id, ReceiptHandle: id, Body: body, Md5OfBody: hex.EncodeToString(sum[:]),
		Attributes:  map[string]string{"ApproximateReceiveCount": strconv.Itoa(receives), "SentTimestamp": sent},
		EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:redis:000000000000:" + q.options.Name, AWSRegion: "redis",
	}, true
}

// bury makes a message a dead letter, and deletes it from the queue once the letter is stored.
func (q *Queue) bury(id string, it item, reason string) {
	if q.options.Dead(message.DeadLetter{Queue: q.options.Name, Message: id, Body: it.body, Reason: reason, At: time.Now(), Receives: it.receives}) {
		q.remove(id)
	}
}

// Delete removes a message from the queue, which Await has returned with this receipt handle.
func (q *Queue) Delete(receipt string) {
	if _, held := q.release(receipt); held {
		q.remove(receipt)
	}
}

// Fail gives a message back, because it could not be handled for the given reason. It comes again after a
// back-off: 100 ms, doubled with each further failure, at most Options.MaxBackoff. After MaxReceives receives,
// it becomes a dead letter.
func (q *Queue) Fail(receipt, reason string) {
	it, held := q.release(receipt)
	if !held {
		return
	}
	if it.receives >= q.options.MaxReceives {
		q.bury(receipt, it, reason)
		return
	}
	backoff := min(firstBackoff<<min(it.receives-1, 20), q.options.MaxBackoff)
	member := fmt.Sprintf("%s:%d:%s", rand.Text(), it.receives, it.body)
	q.note(failScript.Run(context.Background(), q.rdb, q.keys, group, receipt, backoff.Milliseconds(), member).Err())
}

// failScript moves a message from the stream to the delayed ones, unless another worker, which has taken it
// over, has done that or deleted it.
//
//	KEYS   stream, delayed
//	ARGV   group, ID, delay in ms, element of the sorted set
var failScript = redis.NewScript(`
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
if redis.call('XDEL', KEYS[1], ARGV[2]) == 1 then
	local now = redis.call('TIME')
	redis.call('ZADD', KEYS[2], now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[3], ARGV[4])
end
return 1
`)

// release ends the renewal of a message (see Keep), and returns the message.
func (q *Queue) release(id string) (it item, held bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it, held = q.held[id]
	delete(q.held, id)
	return it, held
}

// remove deletes a message from the stream, also while the process ends.
func (q *Queue) remove(id string) {
	q.note(removeScript.Run(context.Background(), q.rdb, q.keys[:1], group, id).Err())
}

// removeScript deletes a message from the stream. It is a script because a full Redis refuses transactions.
//
//	KEYS   stream
//	ARGV   group, ID
var removeScript = redis.NewScript(`
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
return redis.call('XDEL', KEYS[1], ARGV[2])
`)

// note logs an error of Redis after which a message comes once more, although it was deleted or given back.
func (q *Queue) note(err error) {
	if err != nil {
		q.options.Log.Warn("a message will come once more", "queue", q.options.Name, "error", err)
	}
}

// Keep claims the messages that this process handles again and again, so that no other worker takes them
// over. It returns when ctx ends.
func (q *Queue) Keep(ctx context.Context) {
	ticker := time.NewTicker(q.options.Visibility / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		q.mu.Lock()
		ids := slices.Collect(maps.Keys(q.held))
		q.mu.Unlock()
		for some := range slices.Chunk(ids, 100) {
			err := q.rdb.XClaimJustID(ctx, &redis.XClaimArgs{Stream: q.keys[0], Group: group, Consumer: consumer, Messages: some}).Err()
			if err != nil && ctx.Err() == nil {
				q.options.Log.Warn("messages may be taken over by other workers", "queue", q.options.Name, "error", err)
			}
		}
	}
}

// text returns a value that Redis has sent as a text; "" if it is none.
func text(value any) string {
	t, _ := value.(string)
	return t
}

// number returns a value that Redis has sent as a number, or as a text of digits; 0 if it is neither.
func number(value any) int {
	if n, is := value.(int64); is {
		return int(n)
	}
	n, _ := strconv.Atoi(text(value))
	return n
}
