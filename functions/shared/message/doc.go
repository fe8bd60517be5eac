// Package message is what functions share about the messages that start them:
// running a batch with partial failures, keeping what failed in all its tries,
// reading the keys of new objects from a bucket's event, and sending to SQS.
//
// A bucket's event reaches a function as the body of an SQS message, because
// S3 → SQS → Lambda gives it retries and dead letters:
//
//	SQSEvent.Records[i].Body = {"Records":[{"eventName":"ObjectCreated:Put",
//	    "s3":{"bucket":{"name":"b"},"object":{"key":"spool/0001/a%2Bb.spool"}}}]}
//
// A message that no other try can mend (see Terminal), or that fails at its
// last receive, becomes a dead letter in the bucket, layout.DeadLetterKey(queue, hash of the body), as JSON:
//
//	{"queue": "pack", "message": "the id", "body": "what was sent", "receives": 12,
//	 "reason": "why the last try failed", "at": "2026-11-22T02:00:00Z"}
package message
