// Package manifest is the one place where something becomes true.
//
// A generation of a partition's manifest is an immutable JSON object, compressed
// by zstd (RFC 8878), that refers by full key to everything that the partition
// holds:
//
//	{
//	 "format": 2, "partition": 0, "generation": 7, "time": "2026-11-21T22:00:00.123Z",
//	 "parent": "<content hash of generation 6>",
//	 "next": 3,
//	 "packages": [{"id": 2, "key": "packages/0000/2_0_20261121220000000.spf", "bytes": 1, "pages": 1, "indexed": true}],
//	 "books":    [{"key": "books/0000/….book", "bytes": 1, "outcomes": 1, "links": 1}],
//	 "segments": [{"key": "segments/0000/….seg", "bytes": 9, "tail": 1, "documents": 2, "parts": [{"package": 2, "documents": 2}],
//	               "compared": true, "deletions": {"key": "overlays/0000/000000000007_….ovl", "bytes": 1, "documents": 1}}],
//	 "consumed": [{"batch": "00000001-000000000001", "at": "2026-11-21T22:00:00.123Z"}],
//	 "learnt":   "books/0000/….book@7", "closed": ["00000001-000000000000"], "forgotten": 2, "oldest": 5,
//	 "gone":     [{"id": "<identity of a URL>", "version": "00000001-000000000001", "masked": true}],
//	 "condemned": [{"key": "packages/0000/….spf", "at": "2026-11-21T22:00:00.123Z", "since": 7, "gone": "…"}],
//	 "sum": "<content hash of all before, and a brace>"
//	}
//
// Commit rules: a generation is created only if absent, on the base of the one
// before; the loser of a race reads the winner's, recomputes what depended on
// the base, and tries again. An object that no generation lists does not exist.
// The hint is a disposable copy of the newest generation; readers look for
// later generations from there, and list when there is no hint, or none that
// leads anywhere.
//
// # Damage
//
// For a newest generation that is damaged stands the one before, for those who
// read (see Later). Generations that are lost are proved by other objects, and
// made anew by repair, which goes on from a number above all that there were
// (see Refound). Foreign objects beside generations are passed over.
//
// # The past
//
// Generations are kept for [Keep] at least, so that [AsOf] can tell what was
// true. What a generation lists is kept as long as it is, but for what is
// forgotten: of that nothing is left, and a past that listed it is incomplete.
// The sweep commits which generation is the oldest that is kept before it
// deletes those before.
//
// # Format history
//
//   - 1: a segment listed its packages, without tail, parts and deletions.
//     It is not read any more.
//   - 2: since segments are merged. A generation says its format. "compared"
//     came later: where it is missing, the sweep compares once more.
package manifest
