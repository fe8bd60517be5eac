// Package judgment keeps what people tell of results: judges by grades, how well a page
// answers a query (Brin and Page, 1998, section 4.5.2), and readers by clicks. The command
// eval asks the queries again and measures any ranking by that.
//
// # Judges
//
// A [Sheet] has the marks that one judge gave at one time to results of one query. It is an
// immutable JSON object below layout.Judgments, under the key of layout.JudgmentKey:
//
//	judgments/<hash of query>/<content hash>.json
//
//	{"version": 1, "judge": "ann", "at": "2026-11-24T12:00:00.123Z",
//	 "query": {"text": "vacuum table", "lang": ["en"]},
//	 "marks": [{"url": "https://example.org/vacuum", "grade": 3}]}
//
//	field    is
//	version  1
//	judge    the name that belongs to the judge's key (see Keys)
//	at       when the sheet was stored (UTC, to the millisecond)
//	query    text as it was written, at most 4096 bytes; and, where they restricted the
//	         search, site, lang, collection, type (sorted lists), after and before (times)
//	marks    1 to 100 canonical URLs, sorted, each with a grade
//
//	grade    the page
//	3        is the best answer
//	2        answers the query
//	1        answers it partly
//	0        does not answer it
//	-1       is not judged any more: an earlier mark is withdrawn
//
// The hash of a query is the content hash of its JSON as it stands in the sheet. Of several
// marks of a judge for one query and URL the latest counts; the same sheet stored twice is
// one object.
//
// # Clicks
//
// A [Click] says that somebody followed the link to a result. Clicks are kept without persons:
// nothing of the reader is stored, and no time finer than the day. (The store itself knows when
// an object was written; nothing reads it.) A click takes one of 64 slots of its day, query
// and page, drawn at random, under the key of layout.ClickKey:
//
//	clicks/<yyyyMMdd>/<hash of query and page>/<slot>.json
//
//	{"version": 1, "day": "2026-11-25", "query": {"text": "vacuum table", "lang": ["en"]},
//	 "url": "https://example.org/vacuum", "position": 2, "sum": "…"}
//
//	field     is
//	version   1
//	day       when the result was shown (UTC)
//	query     as in a sheet
//	url       the canonical URL of the result
//	position  the number of the result, from 1
//	sum       see layout.Seal; all before it has at most 2048 bytes
//
// The hash is the content hash of the query's hash, a space and the URL. A slot that is taken
// stays as it is: the number of clicks is estimated from the number of slots. Fewer than
// [LeastClicks] of one query and page are used for nothing, for they may tell of a person. The
// sweep deletes clicks after 90 days.
//
// What clicks cannot tell: whether the page was of use; what readers think of pages that were
// not shown, or stood too far down to be seen; who clicked, so that one person may be many.
// They prefer what stands above, whatever it is, which [Clicked.Grades] corrects in part.
// Judges tell more; clicks tell of more queries.
//
// Marks and clicks for forgotten URLs do not count, and the sweep erases them.
//
// Format history: version 1 is the first, of sheets and of clicks.
package judgment
