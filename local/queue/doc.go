// Package queue replaces SQS on one machine: queues in memory with SQS's semantics, their
// delivery to functions as by Lambda's event source mapping, and the part of SQS's
// protocol with which functions in other processes send.
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
