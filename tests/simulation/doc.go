// Package simulation runs the whole search engine in memory and injects every kind of fault. Only
// one call happens at a time, and one random seed decides everything, as in FoundationDB's
// simulation.
//
// The simulated world consists of a bucket in memory, processes that run the real functions on
// one message at a time, a Redis and a queue for each runner (a complete set of functions), and
// a simulated clock. Every call of a process to storage, Redis, a queue or a web site, and every
// sleep, waits until all other processes wait, too (testing/synctest). Then the seed chooses
// which call happens next, how long it takes, which process gets which message, and the faults:
//
//	storage, Redis, queues, sites   fail, or answer and the answer is lost
//	storage                         busy or full for a while
//	Redis                           emptied, cut off, replaced by an older copy of itself
//	processes                       one, all or the whole program killed at any call
//	messages                        lost, doubled, late, in any order, poisoned
//	clocks                          jump forward and back, all of them or one
//	objects                         damaged or deleted, and repaired later
//	generations of a manifest       the newest lost (and the hint, a copy of the newest), or all; repaired later
//	foreign objects                 put below any prefix; all but verify must ignore them
//	the operator                    pauses, resumes, takes pages down, hides some for a while,
//	                                begins another crawl, has all pages indexed again,
//	                                drops a partition from the storage strategy, adds it again,
//	                                splits and joins partitions of both kinds
//
// In the runs with an odd seed, leases of batches are short, and the process that fetches a batch renews
// its lease, as several processes on one machine or on many do.
//
// A partition's segments are merged as soon as there are two, and old generations are kept only
// for minutes. So in every run segments are merged, and old generations are deleted with the
// objects that only they list. Every deletion is checked: an object that a kept generation lists
// must stay. Queries run at the same time. Some of them are as of a past moment, and must give
// the same results as a query at that moment.
//
// Then the faults end, and the run goes on until nothing is left to do. The result must be that
// of a run without faults: the same states of the same URLs, the same bodies, the same search
// results with the same scores; and verify must find all foreign objects and no other problem.
// Work that was done twice is counted, and must be little.
//
// TestSeeds runs many seeds, TestSeed one. This repeats the run of a seed that failed:
//
//	SEED=123 go test ./tests/simulation -run 'TestSeed$' -v
//
// The other tests inject one fault in each run: in the first run at the first call, in the next
// run at a later one, and so on to the last. They do so for a crawl, for the maintenance of a
// crawled bucket, and for a second crawl of a site that has changed. With STRIDE=1 they leave out
// no call.
//
// A seed gives the same run again if the functions do the same between two calls. Three things
// may differ: the order in which goroutines of one process make calls with the same system,
// operation and key; the order of Go's maps; and random names of leases and epochs, on which no
// decision depends.
package simulation
