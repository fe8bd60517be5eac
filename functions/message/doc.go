// Package message is what functions share about the messages that start them:
// running a batch with partial failures, reading the keys of new objects from
// a bucket's event, and sending to SQS.
//
// A bucket's event reaches a function as the body of an SQS message, because
// S3 → SQS → Lambda gives it retries and dead letters:
//
//	SQSEvent.Records[i].Body = {"Records":[{"eventName":"ObjectCreated:Put",
//	    "s3":{"bucket":{"name":"b"},"object":{"key":"spool/0001/a%2Bb.spool"}}}]}
package message
