// Package queue replaces SQS on one machine: queues in memory with the semantics of SQS, the
// delivery of their messages to functions, as Lambda's event source mapping does it, and the
// part of SQS's protocol by which functions in other processes send messages.
//
// A message goes through these states:
//
//	Send ─▶ delayed ─▶ visible ─▶ in flight ─▶ Delete
//	           ▲          ▲            │
//	           │          ├─ timeout ──┤
//	           └─ back-off ── Fail ────┴──▶ dead letter, after MaxReceives
//
// As with SQS a message may come more than once, and in any order. Two differences: a
// failed message comes back after a short back-off instead of the visibility timeout,
// since a person is waiting; and messages are lost when the process ends, which costs
// only time, because the sweep finds all unfinished work.
package queue
