// Package fetch asks a host for the URLs of a batch and puts one spool object
// with all that came of it: pages as compressed Web objects, an outcome for
// every URL, the links found, robots.txt bodies and vital signs. It knows the
// bucket and the web, and nothing of the frontier.
//
//	message: batch.Batch as JSON
//	object:  spool/<partition>/<epoch>-<token>.spool, created only if absent
//
// A batch whose deadline has passed, or whose object exists, is dropped. But if
// the message of a late batch was received before, somebody took it and left
// nothing: a fetch that ran out of memory or time, or crashed. Then every URL
// is recorded as asked once more; as not asked, if the fetch was one of this
// process that could not put its object. URLs that were asked before, or whose
// lease expired, are leased in small batches and at last alone, so that the one
// that kills its fetch is found and fails, and the others are rid of it.
//
// The requests of a batch follow one another with the host's delay between them;
// pages are parsed and compressed meanwhile. Redirects are not followed: where
// they lead is a link, and a URL like any other to the frontier, so that
// robots.txt, politeness and the judgement of addresses hold for it too.
//
// What can become of a URL, and its reasons:
//
//	stored      -
//	unchanged   -                 304 to a conditional request
//	skipped     robots            robots.txt forbids it
//	            redirect          the link of kind 'r' says where to
//	            type              neither HTML, XHTML, XML nor plain text
//	            too big           more than Limits.Page bytes, or it claims to be
//	failed      http <status>     at once for 4xx, after MaxAttempts for 429 and 5xx
//	            address refused   the host's address is not public
//	            bad address, bad redirect, encoding, not storable
//	retry, or   timeout, refused, no such host, tls, connection, cut short,
//	failed      robots unreachable, fetch died   (failed after MaxAttempts)
//	not asked   -                 time or room ran out
package fetch
