// Package linkgraph reads the graph of pages and their links from the books (the records of the
// crawl) of all partitions. It also reads the texts of the links, both of those to pages (see
// Graph.Texts) and of those to other URLs (see Graph.Unvisited).
//
// The pages are the URLs with a stored page that is still valid (see book.Standing), other than
// assets, such as images. A vote is a link from one page to another for which all of this holds:
//
//	kind      Anchor
//	rel       not nofollow, ugc or sponsored
//	          (https://developers.google.com/search/docs/crawling-indexing/qualify-outbound-links)
//	source    the newest version of the page has the link: the link is in the book with the
//	          page's latest outcome, and is not Former (dropped by a later version)
//	target    another page than the source. An alias is an address that redirects, or whose page
//	          names another address as canonical. A link to an alias is a link to the page to
//	          which the alias leads in at most 8 steps
//
// A link in the region Navigation of its page counts as part of a template (see package pagerank).
//
// # Memory
//
// The books are read several times: once for the outcomes of requests, once for the links, and for each partition
// twice for the links with their texts. No pass holds a whole book in memory. Memory holds, in
// bytes, about:
//
//	for each page or alias                              60
//	for each URL whose request failed                   30
//	for each page, once for each book with its links    4
//	for each of up to four readers of books that run    one request (at most 4 MiB) and one block of
//	at the same time                                    the book
//	for each of up to four ranges of the hash space     8 for each vote for a page in the range, at least
//	whose votes are sorted at the same time             65,536 pages
//	for the group of pages whose anchors are made       24 for each row of links to them, and up to 32 texts for each
//	for unvisited URLs                                  the texts of the links to the URLs in four
//	                                                    parts of the hash space; the largest book has
//	                                                    about 1 MiB of links for each part
//
// Package pagerank tells what the ranks take. Votes and texts are in files without names, with about:
//
//	for each vote                                       8 while votes are read, then 4 until FreeVotes is called
//	for each row of links with a text                   35 while anchors are made (see Texts)
//
// Read fails if a graph is over its Limits.
package linkgraph
