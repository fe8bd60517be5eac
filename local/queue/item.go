package queue

import (
	"crypto/md5"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// item is one copy of a message in a queue. A message that comes twice (see Chaos) has two.
type item struct {
	id, body string
	sent     time.Time
	number   uint64    // number of the copy, unique in the queue
	due      time.Time // time from which the message can be received, for the first time or again
	receives int       // number of times that this copy of the message was received
	receipt  string    // receipt handle of the newest receive; "" if the copy is not in flight
	reason   string    // why the last attempt failed; "" before the first failure
	place    int       // index of the item in Queue.due
}

// deliverable returns the message in the form in which Lambda gives it to a function. The parameter
// queue is the queue's name.
func (it *item) deliverable(queue string) events.SQSMessage {
	return events.SQSMessage{
		MessageId:     it.id,
		ReceiptHandle: it.receipt,
		Body:          it.body,
		Md5OfBody:     md5Hex(it.body),
		Attributes: map[string]string{
			"ApproximateReceiveCount": strconv.Itoa(it.receives),
			"SentTimestamp":           strconv.FormatInt(it.sent.UnixMilli(), 10),
		},
		EventSource:    "aws:sqs",
		EventSourceARN: "arn:aws:sqs:local:000000000000:" + queue,
		AWSRegion:      "local",
	}
}

func md5Hex(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// dueHeap is a heap (container/heap) of items by the time at which they are due, the earliest
// first.
type dueHeap []*item

func (a dueHeap) Len() int { return len(a) }

func (a dueHeap) Less(i, j int) bool {
	if order := a[i].due.Compare(a[j].due); order != 0 {
		return order < 0
	}
	return a[i].number < a[j].number
}

func (a dueHeap) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].place, a[j].place = i, j
}

func (a *dueHeap) Push(x any) {
	it := x.(*item)
	it.place = len(*a)
	*a = append(*a, it)
}

func (a *dueHeap) Pop() any {
	last := len(*a) - 1
	it := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	return it
}
