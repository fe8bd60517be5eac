// Package linkgraph reads the graph of pages and their links from the books of all
// partitions, and the texts of the links (see Graph.Anchors).
//
// The pages are the URLs with a stored page that stands (see book.Standing), other than
// assets. A vote is a link of kind Anchor from one page to another:
//
//	of the newest version of the page   it is in the book with the page's latest outcome, and not
//	                                    Former
//	to the page itself, or to an alias  an address that redirects, or whose page names another as
//	of it                               canonical, stands for that one, over at most 8 steps
//	not from the page to itself
//	not nofollow, ugc or sponsored      https://developers.google.com/search/docs/crawling-indexing/qualify-outbound-links
//
// A vote in the region Navigation is one of a template (see package pagerank).
//
// # Memory
//
// Outcomes are read in one pass, links in another, and once more with their texts; all
// stream. Memory holds about 100
// bytes for each page or alias, for each source in a book 4, for each vote 8, for each vote
// for an alias 16, and for each of up to four ranges that are read at once, and each book,
// the bytes of one request (at most 4 MiB) and one block. Read refuses what is over its
// limits. Anchors holds up to 4,096 texts of each wanted page while it reads.
package linkgraph
