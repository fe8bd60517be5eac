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
// Batches are of different hosts and run at the same time. The requests of one
// follow one another with the host's delay between them, or as long as the host
// takes to answer, if that is longer; pages are parsed and compressed meanwhile.
// A host that says that it is too much (429, 503), or gives no answer, rests: for
// as long as Retry-After says, and at least for one second, two, four and so on;
// the ledger says so, and the number of failures comes back with the host's next
// batch. What does not come to its turn before the deadline is not asked.
// Redirects are not followed: where they lead is a link, and a URL like any other
// to the frontier, so that robots.txt, politeness and the judgement of addresses
// hold for it too.
//
// What can become of a URL, and its reasons:
//
//	stored      -
//	unchanged   -                 304 to a conditional request
//	skipped     robots            robots.txt forbids it
//	            redirect          the link of kind 'r' says where to
//	            type              neither text nor a document that is read (package document)
//	            unreadable        broken, locked by a password, or beyond the limits of its reader
//	            too big           more than Limits.Page bytes, or it claims to be
//	            bomb              content of more than 1 MiB and 200 times what was sent
//	failed      http <status>     at once for 4xx, after MaxAttempts for 429 and 5xx
//	            address refused   the host's address is not public, nor in Options.Allow
//	            port refused      the port is not among Options.Ports
//	            header too big    more than 64 KiB
//	            bad address, bad redirect, encoding, not storable, not parsable
//	retry, or   timeout           after Limits.Request
//	failed      too slow          less than 1 KiB/s of body after Limits.Grace
//	            refused, no such host, tls, connection, cut short,
//	            robots unreachable, fetch died   (failed after MaxAttempts)
//	not asked   -                 time or room ran out
package fetch
