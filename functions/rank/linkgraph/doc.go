// Package linkgraph reads the graph of pages and their links from the books of all
// partitions, and the texts of the links (see Graph.Anchors).
//
// The pages are the URLs with a stored page that stands (see book.Standing), other than
// assets. A vote is a link from one page to another for which all of this holds:
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
// Outcomes are read in one pass, links in a second, and links with their texts in a third; all
// are streamed. Memory holds about
//
//	100 bytes    for each page or alias
//	  4 bytes    for each source in a book
//	  8 bytes    for each vote
//	 16 bytes    for each vote for an alias
//	4 MiB        at most, and one block, for each book in each of up to four ranges that are
//	             read at once
//
// Read refuses what is over its limits. Anchors holds up to 4,096 texts of each wanted page
// while it reads.
package linkgraph
