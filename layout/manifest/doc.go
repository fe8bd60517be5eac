// Package manifest keeps the generations of storage partitions: the numbered versions of the list
// of a partition's objects. A commit takes effect by creating the next one.
//
// A generation of a partition's manifest is an immutable JSON object, compressed by zstd (RFC
// 8878), that refers by full key to everything that the partition holds. The comments of [Manifest]
// explain the fields:
//
//	{
//	 "format": 2, "partition": 0, "generation": 7, "time": "2026-11-21T22:00:00.123Z",
//	 "parent": "<content hash of generation 6>",
//	 "next": 3,
//	 "packages": [{"id": 2, "key": "packages/0000/2_0_20261121220000000.spf", "bytes": 1, "pages": 1, "indexed": true,
//	               "apart": {"pages": 1, "hosts": 1}}],
//	 "books":    [{"key": "books/0000/….book", "bytes": 1, "outcomes": 1, "links": 1}],
//	 "segments": [{"key": "segments/0000/….seg", "bytes": 9, "tail": 1, "documents": 2, "parts": [{"package": 2, "documents": 2}],
//	               "compared": true, "deletions": {"key": "overlays/0000/000000000007_….ovl", "bytes": 1, "documents": 1},
//	               "ranks": {"key": "overlays/0000/000000000007_….ovl", "bytes": 1},
//	               "anchors": {"key": "overlays/0000/000000000007_….ovl", "bytes": 9, "tail": 1}}],
//	 "consumed": [{"batch": "00000001-000000000001", "at": "2026-11-21T22:00:00.123Z"}],
//	 "learnt":   "books/0000/….book@7", "closed": ["00000001-000000000000"], "forgotten": 2, "ranked": "<hash>", "oldest": 5,
//	 "unvisited": {"key": "overlays/0000/000000000007_….ovl", "bytes": 9, "tail": 1, "documents": 3, "cut": 2},
//	 "dictionaries": {"of": "<hash>", "all": [{"from": "en", "to": "de", "key": "overlays/0000/000000000007_….ovl", "bytes": 9,
//	                  "terms": 2, "pages": 40, "sentences": 90, "rules": 1, "omitted": ["1 of 91 pairs of sentences"]}]},
//	 "gone":     [{"id": "<identity of a URL>", "version": "00000001-000000000001", "masked": true}],
//	 "condemned": [{"key": "packages/0000/….spf", "at": "2026-11-21T22:00:00.123Z", "since": 7, "gone": "…"}],
//	 "sum": "<content hash of the document without sum>"
//	}
//
// Commit rules: a generation is made from the one before, its base, and created only if absent.
// When two processes create the same number, the loser reads the winner's generation, computes anew
// all that depended on the base, and tries again. An object that no generation lists does not
// exist. Each partition has an object called the hint, a disposable copy of a recent generation, not
// always of the newest. Readers read it, and then the generations with the next numbers. They list all
// generations if the hint, or the generation that it copies, is absent.
//
// # Damage
//
// If the newest generation is damaged, readers use the one before it (see Later). If other objects
// name a generation with a higher number, generations were lost; repair then commits one with a
// higher number than any before (see Refound). Objects of other programs beside generations are
// ignored.
//
// # The past
//
// Generations are kept for [Keep] at least, so that [AsOf] can return them. As long as a generation
// is kept, the objects that it lists are kept, too. The exception is objects with pages that an
// operator wants erased: they are deleted earlier, and a generation that lists them is then
// incomplete. Before the function sweep deletes old generations, it commits the number of the
// oldest one that it keeps.
//
// # Format history
//
//   - 1: a segment listed its packages, without tail, parts and deletions.
//     It is not read any more.
//   - 2: came with the merging of segments. A generation names its format. "compared"
//     came later: where it is missing, the function sweep compares again. "ranks",
//     "anchors", "ranked", "unvisited" and "dictionaries" came later: a program that does not
//     know them drops them, and rank makes them again. "apart" came later: if a program that
//     does not know it drops it, index does not make the documents of the package once more.
package manifest
