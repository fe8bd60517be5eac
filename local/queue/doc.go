// Package queue replaces SQS on one machine. Its queues are in memory and have the semantics of
// SQS. It delivers their messages to functions, as Lambda's event source mapping does. Functions in
// other processes send messages by a part of SQS's protocol.
//
// A message goes through these states:
//
//	Send ─▶ delayed ─▶ visible ─▶ in flight ─▶ Delete
//	           ▲          ▲            │
//	           │          ├─ timeout ──┤
//	           └─ back-off ── Fail ────┴──▶ dead letter, after MaxReceives
//
// As with SQS, a message may come more than once, and in any order. There are two differences.
// A failed message comes back after a short back-off instead of the visibility timeout, because
// on a laptop a person waits for the result. And messages are lost when the process ends. This
// costs only time, because the function sweep finds all unfinished work.
package queue
