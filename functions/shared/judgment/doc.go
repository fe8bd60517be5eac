// Package judgment keeps what judges say about results: how well a page answers a query
// (Brin and Page, 1998, section 4.5.2). The command eval asks the judged queries again and
// measures any ranking by the grades.
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
// one object. Marks for forgotten URLs do not count, and the sweep erases them.
//
// Format history: version 1 is the first.
package judgment
