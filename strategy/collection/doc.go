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
//	include = ["*/docs/*"]       # example: whole addresses, * any run of characters,
//	exclude = ["re:/release-\\d"] # example: or a regular expression for a part of them
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
//	[topic]                      # example: only links on it are followed
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
//	  "again": "2026-11-21T22:00:00Z",  URLs that failed before are requested again
//	  "renew": "2026-11-21T22:00:00Z"   pages that were last requested before, too
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
//   - Where depth counts, where the scope is the whole web, and under a limit
//     (pages, host_pages, pattern_pages), a collection has the pages to which its
//     own pages link. For each such collection a page is fetched once more, so that
//     its links are followed to that collection's depth: soon, or when no other URL
//     is left. New links of a later fetch are followed for the collection on whose
//     behalf it was made, and for those of the first kind.
//   - A page is fetched again when it is due for the first of its collections. The
//     longest delay and the smallest connections and host_connections of all
//     collections apply to all; robots.txt is obeyed for the agent of the collection
//     on whose behalf the request is made.
//   - A page with parameters that a collection drops does not belong to it.
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
// An address in the scope is a page or an asset by its media type, whatever refers to
// it. Outside of the scope, on other hosts too, only assets of pages are requested, and
// skipped as "type" if they are pages. There exclude and the check for traps apply;
// include and depth do not. robots.txt, delay, allow and the limits of bytes hold as for
// pages. Redirects and style sheets lead to further assets, ten in a row at most. They are
// requested again as pages are.
//
// Assets do not count as pages, so that the last page within a limit has its images, too.
// A limit of pages allows 20 assets for each page, and pattern_pages as many assets as
// pages with the same address.Pattern; further ones are skipped for "assets of pages" or
// "pages alike". An address in the scope that only references to assets lead to may turn
// out to be a page. It counts as one, but is not stopped by the limit.
//
// The assets of a page that was stored before assets were wanted are found when the page changes.
// To have them now, give the collection another name: then it requests all pages anew.
//
// # Format history
//
//   - 1: settings had other names than in a file: "delay_ms" (a number),
//     "connections" for host_connections, "fetches" for connections, "stop_at"
//     for pages, and in a topic "pages" for samples.
//   - 2: every setting has the name that it has in a file. A program of format
//     1 refuses it.
//   - 2, since 2026-11-24: there may be "assets". A program of before refuses such a
//     document.
package collection
