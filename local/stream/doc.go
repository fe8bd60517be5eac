// Package stream keeps the queues in Redis Streams, for functions that run on machines outside of AWS.
// Its queues have the semantics of SQS, as those of package queue have: a message may come more than once,
// and in any order; one that is neither deleted nor given back comes again; one that fails too often
// becomes a dead letter. Redis may lose all of them at any moment. This costs only time, because the
// function sweep finds all unfinished work.
//
// # In Redis
//
// A queue has two keys. The braces make both of them lie on one node of a cluster:
//
//	bucketsearch:queue:{fetch}           stream of the messages that can be received, and of those in flight
//	bucketsearch:queue:{fetch}:delayed   sorted set of the messages that can be received later, by the time in ms
//
// An entry of the stream has the fields body, and receives: how often the message was received before it got
// into the stream, which is 0 for a new one. An element of the sorted set is "ID:RECEIVES:BODY"; its ID, which
// is random, makes it differ from another message with the same body.
//
// A message is deleted from the stream when it is done, so the length of the stream is the number of messages
// that wait or are in flight. Programs that start and stop workers, such as KEDA, can scale by it. While the
// sorted set has elements, one worker must run, too: it moves those that are due into the stream.
//
//	state       where it is
//	delayed     sorted set
//	visible     stream, not read by the consumer group yet
//	in flight   stream, among the pending entries of the consumer group
//
// All workers read as one consumer of the group "workers". While a worker handles a message, it claims it
// again every third of Visibility, so that the entry is never idle for long. An entry that is idle for
// Visibility was in flight in a worker that has died, and the next worker that looks takes it over.
//
// Redis 6.2 or newer is needed.
package stream
