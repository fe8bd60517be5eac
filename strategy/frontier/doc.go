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
// over all). All keys of a partition share a hash tag, here that of crawl
// partition 3:
//
//	f:{3}:epoch            version of this layout, and the epoch in which the frontier is open: 3:17
//	f:{3}:settings         version of this layout, and fingerprint of the settings under which it was built; since Open
//	f:{3}:kept:<name>      who writes one call after the other, and how many were made (see Keeping)
//	f:{3}:rebuild          rebuild that may write, of the last Reset or nobody's after Distrust, and its calls so far
//	f:{3}:learnt           hash   storage partition → names of its last commits (see Learning)
//	f:{3}:known            hash   identity → state
//	f:{3}:counts           hash   letters of a state → number of URLs in it, and what the table below says
//	f:{3}:tallies          hash   mark → number of stored URLs that count on it, if any
//	f:{3}:out              hash   collection → number of URLs on lease for the first time, if any
//	f:{3}:q:<band>:<host>  list   elements that wait, oldest first
//	f:{3}:q:again:<host>   list   those of pages that are stored, and asked again
//	f:{3}:filled           hash   host → letters of its queues that are not empty: a–p the bands, A–P if one with a weight came in, q
//	f:{3}:hosts            zset   hosts that have a queue, by the time to ask
//	f:{3}:hosts:<band>     zset   the same, of those whose first queue is this one, with a letter from A to P
//	f:{3}:next             hash   host → earliest time of the next request
//	f:{3}:failures         hash   host → answers in a row that were 429, 503 or none, if any
//	f:{3}:shut             earliest time of the next request to a host that is not in next; since Shut
//	f:{3}:crowded          set    hosts of which a sitemap waits because so many other URLs do
//	f:{3}:active           hash   host → leases out
//	f:{3}:leases           zset   version of a lease, by its deadline
//	f:{3}:lease:<version>  list   host, then the elements on lease
//	f:{3}:closed           hash   version of a lease that is older than the last Reset → host
//	frontier:token         the last token given, over all partitions
//	frontier:partitions    set    crawl partitions that were ever opened here
//	frontier:told          set when whoever started this Redis told what is out (see Pace)
//
// In counts stand beside the numbers of URLs:
//
//	fill    number of entries that hosts, hosts:<band>, next, failures, crowded, active, closed, leases, learnt, tallies, out and filled have in all
//	token   the highest of a lease
//	missed  1 when a collection came to what another may have alone (see Counts)
//	turn    weighed or plain: of which hosts one is leased next if there are both
//
// So Check sees that a key is lost: the numbers of URLs no longer add up to
// those in known, or fill to the entries that there are. A queue that is lost is
// seen when its host is leased or listed, by its letter.
//
// Times are milliseconds since 1970-01-01 UTC. Versions are in letters. A state
// tells where a URL stands in the queue, what was decided of it, or both, of
// one that is asked again. Its letter says which: w waiting, p parked, l leased,
// s stored, k skipped, f failed, W waiting again, L leased again.
//
//	 0     1       3        4          5          6      7
//	┌─────┬───────┬────────┬──────────┬──────────┬──────┐
//	│ wpW │ depth │ weight │ attempts │ expiries │ left │ 7 bytes; W: then what was decided
//	├─────┼───────┼────────┼──────────┼──────────┼──────┼─────────┐
//	│ l L │ depth │ weight │ attempts │ expiries │ left │ version │ 28 bytes; L: then what was decided
//	├─────┼───────┼────────┴┬─────────┴──────────┴──────┴─────────┘
//	│ skf │ depth │ version │ 24 bytes; s: then its marks, 8 bytes each; then left, unless it is 0 or stands above
//	└─────┴───────┴─────────┘
//
// Expiries are leases of the URL that nobody settled in time. A mark is the
// beginning of the SHA-256 of a tally's name. What is asked again is counted
// twice, under the letter of what was decided and under both, as Ws, and goes on
// counting on its tallies. What is parked is pending as if it waited, but has
// no element: a rebuild or another link brings it back.
//
// The URL itself is kept only while it waits or is leased, in an element:
//
//	 0          16       17      19       20         21     22         24      25
//	┌──────────┬────────┬───────┬────────┬──────────┬──────┬──────────┬───────┬─────┐
//	│ identity │ letter │ depth │ weight │ attempts │ hops │ exponent │ flags │ len │ 26 bytes
//	├──────────┴────┬───┴───────┴──┬─────┴──────────┴┬─────┴──────────┴───────┴─────┘
//	│ W: version    │ collection   │ look, if any    │ URL
//	└───────────────┴──────────────┴─────────────────┴────
//
//	 0      8        16     24           25               26              27
//	┌──────┬────────┬──────┬────────────┬────────────────┬───────────────┐
//	│ time │ digest │ body │ len (ETag) │ len (Modified) │ n collections │ look
//	├──────┼────────┴──────┼────────────┴────────────────┴───────────────┘
//	│ ETag │ Last-Modified │ n times: len (1 byte), collection
//	└──────┴───────────────┴────
//
// The flags are 1: it is read as a sitemap, 2: there is a look, 4: at which it
// was missing. A URL waits in the band of its weight, 15 - weight/16, or, if
// that is 0, of its depth, up to 15. Only a page that is stored waits apart,
// behind all bands: asking again for it adds none. What was skipped or failed
// may become a page.
//
// An element counts only while the URL's state has its letter, the depth and
// the weight that it tells and, if it waits again, the version that decided;
// its attempts are then those of the state. Others are left behind when a URL
// moves up or is settled late, and are dropped when a lease comes across them.
// How many those are, left says: a URL of which 16 are gets no other that
// counts if it has one, and one of which 17 are does not wait again, so that it
// never has more than 17 in all. What it misses by that a rebuild finds (see
// Counts). A URL moves up only to an earlier band, or to a smaller depth in the
// same, and so never to and fro.
//
// Sorted sets hold hosts and leases, never URLs: the embedded Redis of a
// laptop sorts a whole set on every range read.
//
// # History
//
// A frontier of another layout than the program's is not built: it is rebuilt
// from the bucket, and nothing is lost.
//
//	3  closed, shut and crowded; what is out outlives a rebuild
//	2  left in states; filled, hosts:<band> and fill; missed in counts, not a key; the layout in epoch and settings
//	1  without these; epoch and settings held no version of the layout
package frontier
