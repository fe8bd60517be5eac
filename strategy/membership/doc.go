// Package membership decides which collections have which pages: at what depth, on
// whose behalf a page is requested, in which queue and within what limits. Its
// functions are pure; fetch, pack, sweep, the account and the frontier follow them.
//
// # What a page is to a collection
//
// A collection has a page because a link of one of its own pages leads there, or
// because it claims a page that another collection found (see Claiming). The page
// is stored once for all. Depth is the number of links from a seed; a scope limits
// it or is unlimited.
//
//	a page                                   by a link              found by another
//	a seed, at depth 0                       admitted               has it
//	a seed, at depth 0, under a limit        admitted               has it
//	in an unlimited scope                    admitted               has it
//	in an unlimited scope, under a limit     admitted               lacks it
//	in one, with a topic, by a link on it    admitted               has it if it is on topic
//	in one, with a topic, by a link off it   off topic              has it if it is on topic
//	in a scope with a depth, near            admitted               lacks it
//	in a scope with a depth, far             too deep               lacks it
//	in the scope of the whole web            admitted               lacks it
//	in no scope                              out of scope           lacks it
//	excluded                                 excluded               lacks it
//	with parameters that are dropped         admitted               lacks it
//	after eleven redirects                   too many redirects     lacks it
//	forbidden by the strategy                refused by strategy    has it
//	a sitemap on the site of a seed          admitted               has it
//	a sitemap elsewhere                      admitted               lacks it
//	a sitemap in an index in an index        too deep               has it
//	an asset of a page                       asset                  lacks it
//	an asset, wanted, in no scope            admitted               lacks it
//	an asset, wanted, excluded               excluded               lacks it
//	an asset, wanted, after eleven others    too many redirects     lacks it
//
// A page that the strategy forbids is never requested, so that no collection gets it.
// Dropped parameters are removed before the decision on a link (see Assign).
//
// # On whose behalf a page is requested
//
// A page that several collections want is requested on behalf of one of them. First
// come those that need links of their own, because they follow the page's links from
// this depth; then those that claim pages; last those with a limit, because a URL may
// wait for them in vain. Within a rank, the alphabet decides (see Compare). The links of
// a page are given to the collections in the same order (see Assign), and a URL that a
// collection with a limit finds waits for those that claim it, too (see Waiting).
//
//	a collection                             rank
//	with a scope with a depth                first
//	with a topic                             first
//	of the whole web                         first
//	with an unlimited scope                  second
//	with a limit                             last
//
// # Collections that are held back
//
// An operator may choose to crawl only some collections for now, or only the scopes
// of some of their seeds. URLs of all others are admitted, but wait outside of the
// frontier until all collections are crawled again, unless a chosen collection
// claims them (see HoldsBack and Waiting).
package membership
