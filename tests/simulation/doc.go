// Package simulation runs the whole search engine in memory, in a world where
// one call happens at a time, and lets everything go wrong that can: as
// FoundationDB's simulation does, by one seed that decides all.
//
// The world is a bucket in memory, the real functions as processes that work on
// one message at a time, a Redis and a queue for each runner (a complete set of
// functions), and a clock that moves when the world moves it. Every call of a
// process to storage, Redis, a queue or a web site, and every sleep, waits until
// all other processes wait too (testing/synctest). Then the seed chooses which
// of them happens next, how long it takes, which message is delivered to whom,
// and what goes wrong:
//
//	storage, Redis, queues, sites   fail, or answer and the answer is lost
//	storage                         busy or full for a while
//	Redis                           emptied, cut off, replaced by an older copy of itself
//	processes                       one, all or the whole program killed at any call
//	messages                        lost, doubled, late, in any order, poisoned
//	clocks                          jump on and back, all of them or one
//	objects                         damaged or deleted, and repaired later
//	generations of a partition      the newest lost with the hint, or all; repaired later
//	foreign objects                 left below any prefix, where nobody but verify minds them
//	the operator                    pauses, resumes, forgets, has all indexed anew, publishes
//	                                a storage strategy that names a partition no more, or again
//
// Segments are merged as soon as a partition has two, and the past is kept for
// minutes, so that in every run segments are merged and old generations, with
// what only they list, collected. Every deletion is judged: nothing goes that a
// generation within the past lists. Queries are asked meanwhile, some of them as
// of a past moment, and have to answer as was answered then.
//
// Then faults end, and the world comes to rest. It must have what a quiet run
// has: the same states of the same URLs, the same bodies, the same answers with
// the same scores; and verify must find nothing but the foreign objects, and each
// of them. What was done twice is counted and small.
//
// TestSeeds runs many seeds, TestSeed one of them; what failed is repeated by
//
//	SEED=123 go test ./tests/simulation -run 'TestSeed$' -v
//
// The other tests let one thing go wrong at one call, in another run at a later
// one, and so on to the last: of a crawl, of the upkeep of what was crawled, and
// of another look at a site that has changed. STRIDE=1 leaves out no call.
//
// A run is repeated exactly as long as what the functions do between two calls
// is. Where it is not: the order in which goroutines of one process make calls
// that look the same (they are told apart by system, operation and key), the
// order of Go's maps, and names that are meant to be random (of leases and
// epochs), which change no decision.
package simulation
