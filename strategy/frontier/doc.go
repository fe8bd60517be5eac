// Package frontier keeps one crawl partition's share of the frontier in Redis:
// which URLs are known and what became of them, which wait, on which host, and
// which batches are out on lease.
//
// It holds nothing that cannot be rebuilt from the bucket: a rebuild admits
// the links and marks the outcomes that the books record, in any order and as
// often as it likes, and then opens the frontier in a new epoch. Tokens are
// counted over all partitions, so an epoch ends when Redis as a whole is lost.
// Redis must not evict keys.
//
// Every change is one atomic Lua script over at most 500 entries (but Reset,
// over all). All keys of
// a partition share a hash tag, here that of crawl partition 3:
//
//	f:{3}:epoch            the epoch in which the frontier is open
//	f:{3}:settings         fingerprint of the settings under which it was built; since Open
//	f:{3}:kept:<name>      who writes one call after the other, and how many were made (see Keeping)
//	f:{3}:rebuild          rebuild that may write, of the last Reset or nobody's after Distrust, and its calls so far
//	f:{3}:learnt           hash   storage partition → names of its last commits (see Learning)
//	f:{3}:known            hash   identity → state
//	f:{3}:counts           hash   letter of a state → number of URLs in it
//	f:{3}:q:<band>:<host>  list   elements that wait, oldest first
//	f:{3}:hosts            zset   hosts that have a queue, by the time to ask
//	f:{3}:next             hash   host → earliest time of the next request
//	f:{3}:failures         hash   host → answers in a row that were 429, 503 or none, if any
//	f:{3}:active           hash   host → leases out
//	f:{3}:leases           zset   version of a lease, by its deadline
//	f:{3}:lease:<version>  list   host, then the elements on lease
//	frontier:token         the last token given, over all partitions
//
// Times are milliseconds since 1970-01-01 UTC. A state is a letter (w waiting,
// l leased, s stored, k skipped, f failed), and
//
//	 0      1        3          4          5
//	┌──────┬────────┬──────────┬──────────┐
//	│ 'w'  │ depth  │ attempts │ expiries │ 5 bytes
//	├──────┼────────┼──────────┼──────────┼──────────────────────┐
//	│ 'l'  │ depth  │ attempts │ expiries │ version, in letters  │ 26 bytes
//	├──────┼────────┼──────────┴──────────┴──┬───────────────────┘
//	│ skf  │ depth  │ version, in letters    │ 24 bytes
//	└──────┴────────┴────────────────────────┘
//
// Expiries are leases of the URL that nobody settled in time.
//
// The URL itself is kept only while it waits or is leased, in an element:
//
//	 0          16      18         19     20         22    23
//	┌──────────┬───────┬──────────┬──────┬──────────┬─────┬────────────┬─────┐
//	│ identity │ depth │ attempts │ hops │ exponent │ len │ collection │ URL │
//	└──────────┴───────┴──────────┴──────┴──────────┴─────┴────────────┴─────┘
//
// An element counts only while the URL's state is waiting with the depth that
// the element tells; its attempts are then those of the state. Others are left
// behind when a URL moves up or is settled late, and are dropped when a lease
// comes across them.
//
// Sorted sets hold hosts and leases, never URLs: the embedded Redis of a
// laptop sorts a whole set on every range read.
package frontier
