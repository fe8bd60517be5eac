// Package membership decides which collections have which pages: at what depth, on
// whose behalf a page is requested, in which queue and within what limits. (A
// collection is what a person wants crawled: seeds, scopes and limits.) Its functions
// are pure; the functions fetch, pack and sweep, the account and the frontier call them.
//
// # What a page is to a collection
//
// A collection has a page because a link of one of its own pages leads there, or
// because it claims a page that another collection found (see Claiming). The page
// is stored once for all collections. Depth is the number of links from a seed. Each
// seed has a scope and a limit of depth; without this limit, its scope is called
// unlimited.
//
// The table shows kinds of pages as one collection sees them. Its second column is
// the decision on a link from a page of this collection: admitted, or the reason of
// the refusal. Its last column says whether the collection has the page if only
// another collection has found it. "Under a limit" means that the collection limits
// the number of its pages. "In one" means in an unlimited scope. An asset is "wanted"
// if the collection stores assets.
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
//	a mail address                           mail address           lacks it
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
// come collections that find pages only by links of their own pages, so that they need
// the links of this page. Then come those that claim pages. Last come those with a
// limit, because a URL may wait for them in vain. Within a rank, the alphabet decides
// (see Compare). The links of a page are given to the collections in the same order
// (see Assign). If a collection with a limit finds a URL, the URL waits also for the
// collections that claim it (see Waiting).
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
// of some of their seeds. URLs of all other collections and seeds are admitted, but
// wait outside of the frontier until all collections are crawled again. This does not
// hold for URLs that a chosen collection claims (see HoldsBack and Waiting).
package membership
