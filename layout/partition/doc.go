// Package partition is the front door of a storage partition: the only place
// that stores a package, book, segment or overlay under a key that a generation
// may list, and the only one that commits a generation.
//
//	p, err := partition.Open(ctx, bucket, id, now)     // a Fault if generations are lost
//	t, err := p.PutPackage(ctx, name, content, pages)  // a ticket: the right to list the object
//	err = p.Commit(ctx, func(e *partition.Edit) error {
//		return e.AddPackage(t)                         // ErrStale if the ticket is too old
//	})
//
// # Rules
//
//  1. Generation 1 is committed before the first package, book, segment or
//     overlay is put. So a partition that holds any of these and has no
//     generation has lost its manifests: nothing is begun there, committed or
//     deleted until repair has made them anew ([ErrLost], in a [Fault]).
//  2. An edit can list an object only if it has the ticket of the object. The
//     ticket is valid for the time [Fresh], counted from just before the object
//     was put. It ends earlier if the object's key is condemned. The records of
//     condemned keys are in the manifest; older ones are in lists, which are read
//     before an object is put.
//  3. A generation that ceases to list an object condemns it: it records that
//     the object will be deleted. No later generation lists a condemned key, so
//     the function sweep can delete the object without reading later generations.
//     Of overlays, only those with anchors, dictionaries or unvisited URLs are
//     condemned, because they hold texts of pages. The others are not: the key of
//     an overlay contains the generation that it was made for, and is never used
//     again.
//  4. A batch is consumed once: one generation lists its pages and records the
//     batch. A batch that was closed is never consumed.
//  5. A generation is created only if absent, on the base of the one before,
//     which was read less than [Fresh] ago. An edit runs again on a newer base
//     whenever another committer was faster, and recomputes all that depends on
//     the base.
//  6. A damaged or missing book hides its own outcomes and links, and nothing
//     else (see [Books]). Questions about a URL are answered from the other
//     books. If these have nothing about the URL, the damaged book may have
//     had it. Only if [Books.Err] returns nil, no book has the URL.
//
// How a generation is stored is the business of this package and of
// layout/manifest alone.
package partition
