// Package collection says what to crawl.
//
// # The file
//
// A person writes a collection as a file in TOML (https://toml.io). Only name and seeds
// must be given. The other values below are the defaults, except where they are marked
// as examples. A batch is up to a hundred URLs of one host that are fetched one after
// another.
//
//	name = "postgres"
//	seeds = ["https://www.postgresql.org/docs/16/"]
//	scope = "host"               # of the seeds: prefix, host, site or any
//	depth = "unlimited"          # or a number of links from a seed
//	include = ["*/docs/*"]       # example: a pattern of whole addresses; * is any run of characters
//	exclude = ["re:/release-\\d"] # example: a regular expression that matches a part of the addresses
//	drop_parameters = ["utm_*"]  # example: in place of the default list, see address.NewCleaner
//	sitemaps = ["https://www.postgresql.org/sitemap.xml"]   # example
//	delay = "1s"                 # from the end of a response to the next request on a host
//	connections = 30             # batches at a time on all hosts
//	host_connections = 1         # batches at a time on a host
//	pages = 0                    # stored pages, without assets, at which the crawl stops for this collection; 0: never
//	host_pages = 0               # stored pages of a host; 0: no limit
//	pattern_pages = 10_000       # stored pages of an address.Pattern, or "unlimited"
//	language = "en"              # example: one of language.Known; pages in other languages are crawled, but not shown
//	schedule = "daily at 09:30"  # example: or "once", "every 6h", "weekly on monday at 07:00 Europe/Berlin";
//	                             # without one each page is requested again as often as it changes
//	assets = false               # true: images, style sheets, fonts and scripts of pages are stored, and not searched
//	agent = "ExampleBot/1.0 (+https://example.org/bot)"     # example
//	allow = ["10.0.0.0/8", "intranet.example"]              # example: addresses that are not public, on any port
//
//	[[seed]]                     # example: a seed with a scope and depth of its own
//	url = "https://wiki.postgresql.org/"
//	scope = "site"
//	depth = 2
//
//	[topic]                      # example: only links on this topic are followed
//	words = ["transaction", "index"]
//	samples = ["https://www.postgresql.org/docs/16/mvcc.html", "sample.txt"]   # pages, which are read once, or files beside this one
//	threshold = 0.3              # from 0 to 1
//
// # The stored document
//
// In the bucket a collection is a versioned, immutable document, as JSON:
//
//	{
//	  "name": "docs",
//	  "version": 3,
//	  "seeds": [{"url": "https://example.org/doc/", "scope": "prefix", "depth": -1}],
//	  "delay": "1s",           from the end of a response to the next request on a host
//	  "host_connections": 1,   batches at a time on a host
//	  "pages": 0,              stored pages at which leasing stops; 0: never
//	  "agent": "ExampleBot/1.0",
//	  "again": "2026-11-21T22:00:00Z",  URLs that failed before this time are requested again
//	  "renew": "2026-11-21T22:00:00Z"   pages last requested before this time are requested again
//	}
//
// and, where they are not empty, "include", "exclude", "drop_parameters",
// "sitemaps" and "allow" (lists of texts), "connections", "host_pages" and
// "pattern_pages" (numbers), "schedule" and "language" (texts), "assets" (true)
// and "topic", as the fields of Collection tell.
//
// A version without seeds and sitemaps ends the collection: its pages stay
// searchable, but nothing is requested on its behalf any more.
//
// # Collections that overlap
//
// A page is stored once, and each collection has as many pages as it would have
// alone:
//
//   - A collection without a limit of pages has all pages in the scopes of its
//     seeds of unlimited depth that pass its patterns, whoever has found them; with
//     a topic, those about the topic.
//   - A collection with a limited depth, with the whole web as scope, or with a limit
//     of pages (pages, host_pages, pattern_pages) has the pages to which its own
//     pages link. A page that was stored for another collection is fetched once more
//     for each such collection, so that its links are followed to that collection's
//     depth. This fetch may come only when no other URL of the host is left. If a
//     later fetch of the page finds new links, they are followed for the collection
//     on whose behalf the page was fetched, and for collections of unlimited depth.
//   - A page is fetched again as soon as it is due for one of its collections. The
//     longest delay and the smallest connections and host_connections of all
//     collections apply to all; robots.txt is obeyed for the agent of the collection
//     on whose behalf the request is made.
//   - A page whose address has parameters that a collection drops does not belong to
//     that collection.
//
// # Assets
//
// With assets = true everything is stored that a browser loads to show the pages, so
// that a mirror of them is whole (bucketsearch export --format mirror):
//
//	images                   img, picture, image inputs, posters of videos, SVG image and use
//	style sheets             link rel=stylesheet, @import
//	fonts, images of these   url() in style sheets, style elements and style attributes
//	scripts                  script src, link rel=preload and modulepreload
//	icons                    link rel=icon and the like
//
// If an address is in the scope, only the media type of the answer decides whether it is a
// page or an asset, and not how pages refer to it. An address outside of the scope, perhaps
// on another host, is requested only if a page uses it as an asset. If it turns out to be a
// page, it is skipped with the reason "type". The patterns of exclude and the check for
// traps apply to such an address; include and depth do not.
//
// For all assets, robots.txt, delay, allow and the limits of bytes hold as for pages. Assets
// are requested again as pages are. Redirects and style sheets lead to further assets, ten in
// a row at most.
//
// Assets do not count as pages, so that the last page within a limit has its images, too.
// The limits pages and host_pages allow 20 assets for each page. The limit pattern_pages
// allows as many assets with the same address.Pattern as pages. Further assets are skipped,
// with the reason "assets of pages" or "pages alike". An address in the scope that was found
// only as an asset may turn out to be a page. Then it counts as a page, but is stored even if
// the limit of pages is reached.
//
// If a page was stored before the collection had assets = true, its assets are found when the
// page changes. To have them at once, give the collection another name: then it requests all
// pages anew.
//
// # Format history
//
//   - 1: settings had other names than in a file: "delay_ms" (a number),
//     "connections" for host_connections, "fetches" for connections, "stop_at"
//     for pages, and in a topic "pages" for samples.
//   - 2: every setting has the name that it has in a file. A program of format
//     1 refuses it.
//   - 2, since 2026-11-24: there may be "assets". An earlier program of format 2 refuses
//     a document that has "assets".
package collection
