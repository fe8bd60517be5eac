// Package manifest keeps the generations of storage partitions: the numbered versions of the list
// of a partition's objects. A commit takes effect by creating the next one.
//
// A generation is an immutable object: JSON, compressed by zstd (RFC 8878). It refers by full key to
// everything that the partition holds. It is stored in one of two forms:
//
//	whole    all lists. A whole generation is also called a checkpoint.
//	delta    what changed since the generation before. To read it, a program reads the last
//	         checkpoint before it, and all deltas from there on.
//
// A whole generation. The comments of [Manifest] explain the fields:
//
//	{
//	 "format": 3, "partition": 0, "generation": 7, "time": "2026-11-21T22:00:00.123Z",
//	 "parent": "<content hash of generation 6, as it is stored>",
//	 "next": 3,
//	 "packages": [{"id": 2, "key": "packages/0000/2_0_20261121220000000.spf", "bytes": 1, "pages": 1, "indexed": true,
//	               "apart": {"pages": 1, "hosts": 1}}],
//	 "books":    [{"key": "books/0000/….book", "bytes": 1, "outcomes": 1, "links": 1}],
//	 "segments": [{"key": "segments/0000/….seg", "bytes": 9, "tail": 1, "documents": 2, "parts": [{"package": 2, "documents": 2}],
//	               "compared": true, "deletions": {"key": "overlays/0000/000000000007_….ovl", "bytes": 1, "documents": 1,
//	               "copy": "<the overlay in base64, if it is small>"},
//	               "ranks": {"key": "overlays/0000/000000000007_….ovl", "bytes": 1},
//	               "anchors": {"key": "overlays/0000/000000000007_….ovl", "bytes": 9, "tail": 1}}],
//	 "consumed": [{"batch": "00000001-000000000001", "at": "2026-11-21T22:00:00.123Z"}],
//	 "learnt":   "books/0000/….book@7", "closed": ["00000001-000000000000"], "forgotten": 2, "ranked": "<hash>", "oldest": 5,
//	 "unvisited": {"key": "overlays/0000/000000000007_….ovl", "bytes": 9, "tail": 1, "documents": 3, "cut": 2},
//	 "dictionaries": {"of": "<hash>", "all": [{"from": "en", "to": "de", "key": "overlays/0000/000000000007_….ovl", "bytes": 9,
//	                  "terms": 2, "pages": 40, "sentences": 90, "rules": 1, "omitted": ["1 of 91 pairs of sentences"]}]},
//	 "gone":     [{"id": "<identity of a URL>", "version": "00000001-000000000001", "masked": true}],
//	 "condemned": [{"key": "packages/0000/….spf", "at": "2026-11-21T22:00:00.123Z", "since": 7, "gone": "…"}],
//	 "condemnedLists": [{"key": "overlays/0000/000000000007_….ovl", "bytes": 9000, "records": 400,
//	                     "at": "2026-11-21T21:00:00.123Z", "since": 5}],
//	 "sum": "<content hash of the document without sum>"
//	}
//
// A delta has the same fields, but no lists: "changes" has the changes of each list. A change goes to a
// place of the list as it was before ("at", from 0), leaves out the next "drop" entries, and puts
// other entries in their place. A list without changes is omitted. Fields that are no lists are
// always there. The members "format" and "log" come first:
//
//	{
//	 "format": 3,
//	 "log": {"checkpoint": 7, "time": "2026-11-21T22:00:00.123Z", "bytes": 9000, "deltas": 0},
//	 "partition": 0, "generation": 8, "time": "2026-11-21T22:01:00.123Z",
//	 "parent": "<content hash of generation 7, as it is stored>",
//	 "next": 4, "learnt": "books/0000/….book@8",
//	 "changes": {
//	  "packages": [{"at": 0, "drop": 1, "put": [{"id": 2, …, "indexed": true}, {"id": 3, …}]}],
//	  "books":    [{"at": 1, "put": [{"key": "books/0000/….book", …}]}]
//	 },
//	 "sum": "<content hash of the document without sum>"
//	}
//
// "log" names the last checkpoint, with its time and its stored size, and the size of the deltas
// between it and this generation. The changes of "segments" may omit the parts of an entry (null):
// it then has those of the dropped entry with the same key.
//
// A generation is a checkpoint if one of these is true; otherwise it is a delta:
//
//   - The partition is small: the whole generation takes at most 16 KiB as it is stored (see Small), as
//     did the last checkpoint, and there are no lists of condemned objects (see below).
//   - It is the first of the partition, or the first after generations were lost.
//   - It would be the 100th delta after the last checkpoint.
//   - The deltas since then, with this one, would be larger than that checkpoint. A list that was
//     mostly replaced, and a partition with little in it, are thus stored whole.
//   - The last checkpoint is a day old.
//   - Repair asks for it (see Restate).
//
// # Commits
//
// A generation is made from the one before, its base, and created only if absent. When two
// processes create the same number, the loser reads the winner's generation, computes anew all that
// depended on the base, and tries again. An object that no generation lists does not exist. A
// generation that would be too large to be read (256 MiB before compression) is not stored: the
// commit fails with [ErrTooLarge].
//
// # The hint
//
// Each partition has an object called the hint, a disposable copy of a recent generation, always
// whole. It is replaced by every commit as long as the partition is small; by every second, third, …
// and at last eighth commit, as the stored size of a checkpoint grows (see interval). Readers read
// it, and then ask at once for as many of the next generations as there can be before the next hint.
// They list all generations if the hint, or the generation that it copies, is absent. The hint of a
// checkpoint is a copy of its bytes. That of a delta is a whole generation with one more member:
//
//	"copy": {"of": "<content hash of the delta as it is stored>", "log": {…}}
//
// # Condemned objects
//
// A generation that ceases to list an object records that it will be deleted. These records are kept for
// as long as generations are, and then for two graces (waiting times): ten days. A busy partition has
// more of them than of anything else. So the function sweep moves old ones once a day to an immutable
// object, a list (see [CondemnedList]), if they are 256 at least; a list has at most 16,384. The objects
// of a list are deleted together; then the list is forgotten. Whoever stores an object under a new key
// reads all lists first, once for each partition that it opens.
//
// # Damage
//
// The parent's hash in a delta must be that of the generation to which the delta is applied. So a
// generation that is damaged, lost or replaced makes the deltas after it unreadable, up to the next
// checkpoint. If the newest generation cannot be read, readers use the newest that can, and nothing is
// committed until repair has run (see Later). A newer hint makes the damage harmless to readers;
// repair then commits a checkpoint. If other objects name a generation with a higher number,
// generations were lost; repair then commits one with a higher number than any before (see Refound).
// Objects of other programs beside generations are ignored.
//
// # The past
//
// Generations are kept for [Keep] at least, so that [AsOf] can return them. As long as a generation
// is kept, the objects that it lists are kept, too. The exception is objects with pages that an
// operator wants erased: they are deleted earlier, and a generation that lists them is then
// incomplete. Before the function sweep deletes old generations, it commits the number of the
// oldest one that it keeps. This is always a checkpoint, because the deltas after it need it.
//
// # Format history
//
//   - 1: a segment listed its packages, without tail, parts and deletions.
//     It is not read any more.
//   - 2: came with the merging of segments. A generation names its format, and is whole. "compared"
//     came later: where it is missing, the function sweep compares again. "ranks",
//     "anchors", "ranked", "unvisited" and "dictionaries" came later: a program that does not
//     know them drops them, and rank makes them again. "apart" came later: if a program that
//     does not know it drops it, index does not make the documents of the package once more.
//     A generation of format 2 is read as a checkpoint.
//   - 3: came with deltas and lists of condemned objects. A whole generation without such lists is still of
//     format 2, so programs that know only this format work on a small partition beside this one. Such a
//     program fails at the first generation or hint of format 3, with an error that names both formats. As
//     it reads the newest generation before it commits, condemns or deletes anything, it changes nothing
//     any more. Its verify and its repair fail with the same error.
package manifest
