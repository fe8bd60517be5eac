// Package judgment keeps what people tell about results. Judges give grades, which say how well a
// page answers a query (Brin and Page, 1998, section 4.5.2), and readers click on results. The
// command eval repeats the queries, and measures a ranking by these grades and clicks.
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
// The hash of a query is the content hash of its JSON as it stands in the sheet. If a judge has
// given several marks for one query and URL, the latest counts. A sheet that is stored twice is one
// object.
//
// # Clicks
//
// A [Click] says that somebody followed the link to a result. Clicks are kept without persons:
// nothing of the reader is stored, and of the time only the day. (The object store records a time of
// writing for each object. No function reads it.) For each query and page there are 64 slots a day. A
// click takes one of them at random. The slot is part of the click's key, which layout.ClickKey makes:
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
//	sum       checksum, see layout.Seal; the bytes before it are at most 2048
//
// The hash is the content hash of the query's hash, a space and the URL. A slot that is taken stays
// as it is: the number of clicks is estimated from the number of taken slots. If a query and page have
// fewer than [LeastClicks] clicks, these are not used at all, because they may reveal a person. The
// sweep deletes clicks after 90 days.
//
// Clicks do not tell whether the page was of use, nor what readers think of pages that were not
// shown, or were too far down to be seen. They do not tell who clicked, so many clicks may be of
// one person. Readers click more often on upper results, whatever these are; [Clicked.Grades]
// corrects this in part. A judge's grade tells more than a click, but there are clicks for more
// queries.
//
// Marks and clicks for forgotten URLs do not count, and the sweep erases them.
//
// Format history: version 1 is the first, of sheets and of clicks.
package judgment
