// Package linkgraph reads the graph of pages and their links from the books of all
// partitions, and the texts of the links to pages (see Graph.Anchors) and to other URLs (see
// Graph.Unvisited).
//
// The pages are the URLs with a stored page that is still valid (see book.Standing), other
// than assets. A vote is a link from one page to another for which all of this holds:
//
//	kind      Anchor
//	rel       not nofollow, ugc or sponsored
//	          (https://developers.google.com/search/docs/crawling-indexing/qualify-outbound-links)
//	source    the newest version of the page has the link: the link is in the book with the
//	          page's latest outcome, and is not Former
//	target    another page than the source. An alias counts as its page: an address that
//	          redirects, or whose page names another as canonical, over at most 8 steps
//
// A vote in the region Navigation is one of a template (see package pagerank).
//
// # Memory
//
// Outcomes are read in one pass, links in another, and once or twice more with their texts;
// all stream. Memory holds, in bytes, about:
//
//	a page or alias                               100
//	a URL whose request failed                    50
//	a source in a book                            4
//	a vote; a vote for an alias                   8; 16
//	a book, for each of up to four ranges at once one request (at most 4 MiB) and one block
//	a page whose anchors are wanted               up to 4,096 texts
//	unvisited URLs                                the texts of four parts of about 1 MiB of the largest book
//
// Read refuses what is over its limits.
package linkgraph
