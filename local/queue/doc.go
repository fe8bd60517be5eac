// Package queue stands in for SQS on one machine: queues in memory with SQS's
// semantics, their delivery to functions as Lambda's event source mapping
// does it, and the part of SQS's protocol by which functions in processes of
// their own send.
//
// A message goes through these states:
//
//	Send ─▶ delayed ─▶ visible ─▶ in flight ─▶ Delete
//	           ▲          ▲            │
//	           │          ├─ timeout ──┤
//	           └─ back-off ── Fail ────┴──▶ dead letter, after MaxReceives
//
// As with SQS a message may come more than once, and in any order. What
// differs: a message that failed comes back after a short back-off instead of
// the visibility timeout, since a person is waiting; and all is lost when the
// process ends, which costs time and no truth, since the sweep finds all work
// that is undone.
package queue
