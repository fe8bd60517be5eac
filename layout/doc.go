// Package layout names every object in the bucket. Keys are built and parsed
// here and nowhere else.
//
//	collections/<name>/<version>.json                    what to crawl
//	strategy/crawl/<version>.json                        URL → crawl partition
//	strategy/storage/<version>.json                      URL → storage partition
//	spool/<partition>/<epoch>-<token>.spool              what one batch fetched
//	packages/<partition>/<base>_<exponent>_<yyyyMMddHHmmssSSS>[_<n>].spf
//	books/<partition>/<content hash>.book                outcomes and links of one pack
//	segments/<partition>/<content hash>.seg              index of packages
//	overlays/<partition>/<generation>_<content hash>.ovl which documents of a segment are dead, their ranks, or their anchors;
//	                                                     unvisited URLs; dictionaries between languages; lists
//	                                                     of condemned objects
//	manifests/<partition>/<generation>.json.zst          list of the partition's objects, or the changes of this list
//	                                                     since the generation before
//	hints/<partition>.json.zst                           disposable copy of a recent generation, always whole
//	hints/settings.json                                  names of all versions of what people publish, with the contents of those in force
//	hints/census.json                                    numbers of URLs by their states, and of which books these are
//	epochs/<n>                                           claim of an epoch, one life of the crawl's queues in Redis: by whom, and which generations the claimer had read
//	takedowns/<version>.json                             what is forgotten: hashes of URLs and sites
//	controls/<version>.json                              pause, caps, alerts and keys of the API
//	controls/curation/<version>.json                     synonyms, pinned and banned results of searches
//	copies/<key>                                         a second copy of each version of collections, strategies, takedowns, controls and curation
//	feedback/<yyyyMMdd>/<HHmmssSSS>_<worker>.json        vital signs of a worker since its last report
//	dead-letters/<queue>/<content hash>.json     a message given up, with its reason (.again: the request to send it again)
//	judgments/<hash of query>/<content hash>.json         how well pages answer the query, by one judge at one time
//	clicks/<yyyyMMdd>/<hash of query and page>/<slot>.json  that a reader clicked the page as a result of the query
//	due/<partition>/<content hash>.due                   URLs that are to be requested again within a day, sorted by time
//	runs/<crawl partition>/<content hash>.run            states of finished URLs that Redis does not hold any more
//	quarantine/<key, '+' for '/'>@<content hash>         bytes that could not be read; the manifest says why
//
// Partitions are written with four digits, the epoch in a batch's name with eight, all other
// numbers with twelve, so that keys sort as numbers do. No key begins with another key and a slash,
// because some stores keep objects as files. An object with any other name is foreign: verify
// reports it, and Bucketsearch never reads or deletes it (see [IsForeign]).
//
// Any damage of an object can be detected. Packages and spool objects have CRCs. The names of
// books, segments, overlays, judgments, quarantined objects, lists of due URLs and runs contain a hash of
// their bytes. All other objects are JSON with a checksum in the field sum (see [Seal]), or, in the case of hints, a
// copy of such JSON.
package layout
