// Package frontier keeps one crawl partition's share of the frontier in Redis: the
// known URLs and their states, the queues of waiting URLs by host, and the leases. (The
// URLs of the web are divided into crawl partitions. Each leases its own batches.)
//
// Begin with the type Frontier and these methods of it, which follow a URL from a link to its final state:
//
//	Admit     puts a URL into the queue of its host (admit.go)
//	Lease     takes a batch of URLs from the queues of one host; Extend, Expire (lease.go)
//	Settle    enters the outcomes of a batch, and ends its lease (settle.go)
//	Renew     puts a URL with a final state into a queue again (renew.go)
//	Retire    moves final states to runs in the bucket (retire.go, runs.go)
//	Forget    removes a URL (forget.go)
//	Check     says whether the frontier is complete (check.go)
//
// Besides, the package has two types that share only Redis with the frontier: Inbox, the spool objects that wait to be
// packed, and RobotsCache.
//
// All of the frontier can be rebuilt from the bucket. A rebuild begins with Reset. It admits the links that the books
// record (Admit), and sets the final states (Mark), in any order and any number of times.
// Then it opens the frontier in a new epoch (Open). Tokens (numbers of batches within an
// epoch) come from one counter for all partitions. If Redis is lost, so is this counter, and
// all partitions begin a new epoch. Redis must not evict keys.
//
// Every change is one atomic Lua script. A script changes at most 500 entries; only the
// script of Reset changes all, by giving some keys other names. All keys of a partition share
// a hash tag. For crawl partition 3 they are:
//
//	f:{3}:epoch            version of this layout, and the epoch in which the frontier is open: 3:17
//	f:{3}:settings         version of this layout, and fingerprint of the settings under which the frontier was built
//	                       (see Open and Move)
//	f:{3}:note             text of the callers about these settings (see Note)
//	f:{3}:kept:<name>      name of one sequential caller, and number of its calls so far (see Keeping)
//	f:{3}:rebuild          version of the layout and name of the rebuild that may write, and number of its calls:
//	                       3-KDHR:17; Distrust sets a random name
//	f:{3}:learnt           hash   storage partition → names of its last commits (see Learning)
//	f:{3}:runs             list of the runs, as JSON (see runList); absent before the first Retire
//	f:{3}:known            hash   number of a bucket → the records of known URLs in it (see below); seed → a secret
//	f:{3}:counts           hash   letters of a state → number of URLs in it; and the fields of the table below
//	f:{3}:tallies          hash   mark of a tally (see below) → number of stored URLs that it counts, unless 0
//	f:{3}:out              hash   collection → number of URLs, without assets, on lease for the first time, unless 0
//	f:{3}:generation       random text in the names of queues, which Reset changes; absent before the first Reset.
//	                       In the next two lines it is kd83
//	f:{3}:qkd83:<band>:<host>  list  elements of waiting URLs, oldest first
//	f:{3}:qkd83:again:<host>   list  elements of stored pages that are requested again
//	f:{3}:old              list   former generations with queues that are still to be deleted, each with the name
//	                              of a key (see the next line)
//	f:{3}:old:<generation>:<name>  the hosts of these queues: the former filled, or another key with hosts
//	f:{3}:filled           hash   host → a letter for each of its queues that is not empty: a–p for the bands;
//	                              A–P for a band in which a URL has a weight; q for again
//	f:{3}:hosts            zset   hosts with a queue that are in none of the sets hosts:<band>, by the earliest time
//	                              of the next request
//	f:{3}:hosts:<band>     zset   hosts whose first letter in filled is A–P and stands for this band, by the same time
//	f:{3}:next             hash   host → earliest time of the next request
//	f:{3}:failures         hash   host → number of answers in a row that were 429, 503 or none, unless 0
//	f:{3}:shut             earliest time of the next request to a host that is not in next (see Shut)
//	f:{3}:dropped          hash   identity of a URL that Forget has removed → number of its elements that are still
//	                              in queues
//	f:{3}:crowded          set    hosts whose sitemaps wait because too many other URLs wait
//	f:{3}:active           hash   host → number of its leases
//	f:{3}:leases           zset   versions of leases, by deadline
//	f:{3}:lease:<version>  list   host, then the elements on lease
//	f:{3}:closed           hash   version of a lease from before the last Reset → host
//	frontier:token         the last token given, over all partitions
//	frontier:partitions    set    crawl partitions that were ever opened here
//	frontier:layouts       zset   versions of this layout, by the last time at which a program used them (see Superseded)
//	frontier:told          exists if Tell has written to this Redis all leases from before it started (see Pace)
//
// The hash counts also has the fields
//
//	here    number of records in known
//	retires 1 if there is a list of runs
//	stayed  number of final states that were left in known by the last Retire
//	fill    sum of the numbers of entries in known, hosts, hosts:<band>, next, failures, crowded, active, closed,
//	        leases, learnt, tallies, out, filled and dropped
//	token   the highest token of a lease
//	missed  1 if a collection may lack pages (see Counts)
//	turn    weighed or plain: whether a host whose first URL has a weight is leased next, or one without
//
// So Check finds the loss of a key: fill differs from the number of entries that it counts, or retires is 1 and there
// is no list of runs. The loss of a queue is found when its host is leased or listed, because filled has the letter
// of the queue.
//
// Times are milliseconds since 1970-01-01 UTC. Versions are written as text, but in final states
// and in elements in 9 bytes: the epoch in 4, the token in 5. The state of a URL says in which queue
// or lease the URL is, or what its final outcome was. For a URL that is requested again, it says
// both. A state begins with a letter: w waiting, p parked, l leased, s stored, k skipped, f failed, W
// waiting again, L leased again. The letter x alone stands for a URL that was removed (see Runs).
//
//	 0     1       3        4          5          6      7
//	┌─────┬───────┬────────┬──────────┬──────────┬──────┐
//	│ wpW │ depth │ weight │ attempts │ expiries │ left │ 7 bytes; W: then the earlier final state
//	├─────┼───────┼────────┼──────────┼──────────┼──────┼─────────┐
//	│ l L │ depth │ weight │ attempts │ expiries │ left │ version │ 28 bytes; L: then the earlier final state
//	├─────┼───────┴─┬──────┼──────────┴──────────┴──────┴─────────┘
//	│ skf │ version │ site │ 14 bytes; s: then its marks, 8 bytes each; then left, unless it is 0
//	└─────┴─────────┴──────┘
//
// Expiries is the number of leases of the URL that were not settled in time. Left is
// the number of its outdated elements that are still in queues (see below); a final
// state after W or L has no such number. The site of 4 bytes is the hash of the URL's site (layout.Place.Site): runs
// are sorted by it. A tally is the number of stored URLs that
// count toward one limit, and its mark is the first 8 bytes of the SHA-256 of its name.
// In the hash counts, a URL that is requested again appears twice: under the letter of
// its final state, such as s, and under both of its letters, such as Ws. The URL's
// tallies still count it. A parked URL is pending but has no element: a rebuild or
// another link puts it back into a queue.
//
// Most known URLs have a final state, and no element. So that such a URL takes about 40 bytes, no URL
// has a field of its own in the hash known: each field is a bucket, which has the records of some 16
// URLs. The bucket of a URL follows from its identity and the seed (see script/known.lua). The seed is
// a secret: no site can choose its URLs so that they all belong into one bucket. The number of
// buckets grows with that of the URLs. Within a bucket, URLs whose states have the same length form
// a section. The sections come in any order, and so do the records of a section:
//
//	 0        2        4          20
//	┌────────┬────────┬──────────┬───────┬──────────┬───────┬───┐
//	│ length │ count  │ identity │ state │ identity │ state │ … │
//	└────────┴────────┴──────────┴───────┴──────────┴───────┴───┘
//
// The length is that of each state, in bytes. The count is that of the records.
//
// # Runs
//
// A URL is finished if it has a final state, does not wait again, and has no outdated element in a queue. If Redis
// holds many finished URLs, Retire moves their states to a run in the bucket (see layout/run). So the memory of Redis
// does not grow with the number of known URLs. The counts and tallies include the states in runs.
//
// Where the state of a URL stands:
//
//	in known   in a run   the state is
//	yes        any        that in known; the one in the run may be outdated
//	x          any        none: Forget has removed the URL
//	no         yes        that in the run; in the last one, if several have the URL
//	no         no         none: the URL is unknown
//
// A script that needs the state of a URL that known has not answers with the URL's identity, and changes nothing. The
// caller looks the URL up in the runs, and calls the script again with what it has found. A fence makes sure that the
// list of runs is still the same. The list changes before a state is deleted in known. So a script that does not find
// the state in known has been told of it, or fails. A state that was looked up is written into known, too, because
// most links lead to few URLs. For a frontier without runs, nothing of this costs a call or a read.
//
// Runs are disposable. If one is lost or damaged, the frontier counts as not built, and is rebuilt from the books.
//
// # Elements
//
// An element is a record of a URL in a queue. Only elements hold the text of a URL, so it
// is kept only while the URL waits or is leased:
//
//	 0          16       17      19       20         21     22         24      25
//	┌──────────┬────────┬───────┬────────┬──────────┬──────┬──────────┬───────┬─────┐
//	│ identity │ letter │ depth │ weight │ attempts │ hops │ exponent │ flags │ len │ 26 bytes
//	├──────────┴────┬───┴───────┴──┬─────┴──────────┴┬─────┴──────────┴───────┴─────┘
//	│ W: version    │ collection   │ look, if any    │ URL, or the end of it
//	└───────────────┴──────────────┴─────────────────┴────
//
//	 0      8        16     24           25               26              27
//	┌──────┬────────┬──────┬────────────┬────────────────┬───────────────┐
//	│ time │ digest │ body │ len (ETag) │ len (Modified) │ n collections │ look
//	├──────┼────────┴──────┼────────────┴────────────────┴───────────────┘
//	│ ETag │ Last-Modified │ n times: len (1 byte), collection
//	└──────┴───────────────┴────
//
// The look is the last final outcome of a URL that is requested again (batch.Look). The
// flags are 1: the URL is read as a sitemap, 2: there is a look, 4: the page was missing
// at the last request, 8: the URL was found only as an asset of pages, 16 and 32: the URL begins with
// http:// or https:// and the host of the queue, and the element has only what follows. A URL with a
// weight waits in band 15 - weight/16. The band of a URL without a weight is its depth, at most
// 15. A stored page waits behind all bands, because requesting it again adds no page; a
// skipped or failed URL waits in its band, because it may turn out to be a page.
//
// An element is valid only while its letter, depth and weight equal those in the URL's
// state. If the URL waits again, the element's version must also equal that of the earlier
// final state. The attempts in a valid element do not matter: those in the state count. When
// a URL moves up or is settled late, its old element stays in the queue and is outdated. It
// is dropped when a lease finds it. No URL has more than 17 elements: a waiting URL with 16
// outdated elements does not move up, and a URL with 17 is not queued again. Because of this
// limit, a collection may lack a page until a rebuild (see Counts.Missed). A URL moves only
// to an earlier band, or to a smaller depth in the same band, and never back.
//
// Sorted sets hold hosts and leases, never URLs: the embedded Redis of a
// laptop sorts a whole set on every range read.
//
// # History
//
// A frontier whose layout is not that of the program counts as not built. It is rebuilt
// from the bucket, and nothing is lost. The versions of the layout, and what each added:
//
//	8  the site in final states; the field stayed of counts
//	7  the key runs, the state x, and the fields here and retires of counts
//	6  known URLs in buckets; before, the hash known had a field for each URL. Final states without a depth;
//	   versions of 9 bytes in final states and elements; elements without the beginning of the URL
//	5  the keys generation, old, old:<generation>:<name>, dropped and note; the generation in the names of queues
//	4  the flag of an asset in elements
//	3  the keys closed, shut and crowded; leases outlive a rebuild
//	2  the field left of states; the keys filled and hosts:<band>; the fields fill and missed of counts
//	   (missed was a key before); the version of the layout in the values of epoch and settings
//	1  the first version
package frontier
