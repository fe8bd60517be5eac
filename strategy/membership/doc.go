// Package membership says which collections may have which pages: at what depth,
// in whose turn, in which queue and within what limits. Its functions are pure;
// fetch, pack, sweep, the account and the frontier follow it.
//
// # What a page is to a collection
//
// A collection comes to a page by a link of its own, on one of its pages, or
// claims it, whoever has found it (see Claiming). The page is stored once, for
// all that have it. Depth is the number of links from a seed; a scope is
// unlimited or counts it.
//
//	a page                                   by a link              found by another
//	a seed, at depth 0                       admitted               has it
//	a seed, at depth 0, under a limit        admitted               has it
//	in an unlimited scope                    admitted               has it
//	in an unlimited scope, under a limit     admitted               lacks it
//	in it, by a link on topic                admitted               has it if it is on topic
//	in it, by a link off topic               off topic              has it if it is on topic
//	in a scope that counts, near             admitted               lacks it
//	in a scope that counts, far              too deep               lacks it
//	in the scope of the whole web            admitted               lacks it
//	in no scope                              out of scope           lacks it
//	excluded                                 excluded               lacks it
//	with parameters that are dropped         admitted               lacks it
//	after eleven redirects                   too many redirects     lacks it
//	forbidden by the strategy                refused by strategy    has it
//	a sitemap on the site of a seed          admitted               has it
//	a sitemap elsewhere                      admitted               lacks it
//	a sitemap in an index in an index        too deep               has it
//
// Who claims a page that is forbidden does not get it: it is asked for on behalf
// of nobody. Dropped parameters are gone before a link is decided (see Assign).
//
// # Whose turn it is
//
// A page that several want is asked for on behalf of one: first those that need
// links of their own, for they follow its links no deeper than they count; then
// those that claim pages; those with a limit last, for what waits on behalf of
// them may wait in vain. Of equals the first name asks (see Compare). The links of
// a page are shared in that turn (see Assign), and what one with a limit comes to
// waits for those that claim it (see Waiting).
//
//	a collection                             its turn
//	with a scope that counts                 first
//	with a topic                             first
//	of the whole web                         first
//	with an unlimited scope                  second
//	with a limit                             last
//
// # Who is held back
//
// An operator may have only some collections crawled for now, or what some of
// their seeds stand for. What the others want is admitted, but waits outside of
// the frontier until all are crawled again, unless one of those that are crawled
// claims it (see HoldsBack and Waiting).
package membership
