package segment

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Match is a document with a wanted identity.
type Match struct {
	Doc     uint32 // the document's number in its segment
	ID      layout.Identity
	Version layout.Version
}

// Sizes by which Find decides how to read. Where the columns of identities and versions are small, it reads them
// whole, because a further request would take more time than so many bytes.
const (
	// greatest size of the columns, in bytes, for which Find does not read the filter first
	columnsAtOnce = 64 << 10
	// greatest size of the columns, in bytes for each document that the filter finds, for which Find reads them
	// whole. If they are larger, it makes two small reads for each of these documents instead.
	columnsPerMatch = 128 << 10
)

// OpenToFind opens a segment as Open does, for a caller that then calls Find. By the same request as the tail, it
// reads the segment's filter (see identityFilter), which comes just before the tail. It computes the size of the
// filter from the parameter documents, the number of documents of the segment. If this number is wrong, or if the
// segment has no filter because an older program has written it, OpenToFind has read some bytes in vain, and Find
// reads what it needs.
func OpenToFind(ctx context.Context, source Source, ref Ref, documents int) (*Segment, error) {
	size := packedSize(filterSize(uint32(max(1, documents))))
	if documents < 1 || documents > MaxDocuments || ref.Tail < footerSize || ref.Tail+size > ref.Bytes {
		return Open(ctx, source, ref)
	}
	s := &Segment{source: source, ref: ref}
	contents, err := s.read(ctx, []blob.Range{{Offset: ref.Bytes - ref.Tail - size, Length: size + ref.Tail}})
	if err != nil {
		return nil, err
	}
	if s.tail, err = parseTail(contents[0][size:], ref.Bytes); err != nil {
		return nil, s.wrap(err)
	}
	if c := s.columnOf(filterColumn, filterKind); c != nil && c.size == size && c.end() == s.tail.end() {
		s.filter, err = s.decodeFilter(contents[0][:size:size])
	}
	return s, err
}

// packedSize returns the size in bytes of a column that is not compressed (see objectWriter.writeUnpacked), with
// its checksum. The parameter is the size of its content.
func packedSize(content int) int64 { return int64(unpackedStart(content) + content + sealSize) }

// unpackedStart returns the number of bytes before the content of a column that is not compressed. The parameter
// is the size of the content.
func unpackedStart(content int) int {
	return len(binary.AppendUvarint(nil, uint64(content))) + 1
}

// Find returns the documents with the wanted identities, in ascending order of their numbers. The wanted
// identities may be in any order.
//
//	segment                      what Find reads
//	small, and opened by Open    the columns of identities, epochs and tokens, by one request
//	with a filter                the filter, unless OpenToFind has read it; then what the next table says
//	without a filter (written    the column of identities; the other two only if this one has a wanted
//	by an older program)         identity
//
// The filter shows for almost all absent identities that they are absent. If all wanted ones are, nothing else is
// read. Otherwise it is one of these, whichever is cheaper by requests and bytes:
//
//	documents that the filter finds   what Find reads
//	few                               for each, a page of the column with the numbers of documents by rank;
//	                                  then the stored documents
//	many                              the columns of identities, epochs and tokens, by one request
func (s *Segment) Find(ctx context.Context, wanted []layout.Identity) ([]Match, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	if !slices.IsSortedFunc(wanted, layout.Identity.Compare) {
		wanted = slices.SortedFunc(slices.Values(wanted), layout.Identity.Compare)
	}
	columns := s.besideIdentities()
	if s.filter == nil && columns.Length <= columnsAtOnce {
		return s.findAtOnce(ctx, columns, wanted)
	}
	filter, err := s.readFilter(ctx)
	if err != nil {
		return nil, err
	}
	if filter == nil {
		return s.findInColumns(ctx, wanted)
	}
	ranks := filter.ranks(wanted)
	switch {
	case len(ranks) == 0:
		return nil, nil
	case columns.Length > columnsPerMatch*int64(len(ranks)):
		return s.findInStored(ctx, ranks, wanted)
	}
	return s.findAtOnce(ctx, columns, wanted)
}

// findAtOnce finds the documents with the wanted identities in the columns of identities and versions. The
// parameter columns is the range of these columns (see besideIdentities), which findAtOnce reads by one request.
func (s *Segment) findAtOnce(ctx context.Context, columns blob.Range, wanted []layout.Identity) ([]Match, error) {
	if columns.Length == 0 {
		return s.findInColumns(ctx, wanted) // reports which column is missing
	}
	contents, err := s.read(ctx, []blob.Range{columns})
	if err != nil {
		return nil, err
	}
	held := *s
	held.source = heldRange{columns.Offset, contents[0]}
	return held.findInColumns(ctx, wanted)
}

// readFilter returns the segment's filter, or nil if it has none.
func (s *Segment) readFilter(ctx context.Context) (*identityFilter, error) {
	c := s.columnOf(filterColumn, filterKind)
	if s.filter != nil || c == nil {
		return s.filter, nil
	}
	contents, err := s.read(ctx, []blob.Range{{Offset: c.offset, Length: c.size}})
	if err != nil {
		return nil, err
	}
	return s.decodeFilter(contents[0])
}

// decodeFilter decodes the column filterColumn. The parameter holds its bytes with the checksum.
func (s *Segment) decodeFilter(sealed []byte) (*identityFilter, error) {
	content, err := unseal(sealed)
	if err == nil {
		content, err = unpack(content)
	}
	var f *identityFilter
	if err == nil {
		f, err = parseFilter(content, s.tail.documents)
	}
	if err != nil {
		return nil, s.wrap(fmt.Errorf("column %s: %w", filterColumn, err))
	}
	return f, nil
}

// besideIdentities returns the range from the first to the last of the columns of identities, epochs and tokens.
// The writer puts them next to each other. The range is empty if one of them is missing.
func (s *Segment) besideIdentities() blob.Range {
	ids, epochs, tokens := s.columnOf(identities, rowsKind), s.columnOf(Epochs, numbersKind), s.columnOf(Tokens, numbersKind)
	if ids == nil || epochs == nil || tokens == nil {
		return blob.Range{}
	}
	from := min(ids.offset, epochs.offset, tokens.offset)
	return blob.Range{Offset: from, Length: max(ids.end(), epochs.end(), tokens.end()) - from}
}

// heldRange is a Source of one range of an object, which it holds in memory.
type heldRange struct {
	offset  int64 // where the range begins
	content []byte
}

// Read implements Source.
func (h heldRange) Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error) {
	moved := slices.Clone(ranges)
	for i := range moved {
		moved[i].Offset -= h.offset
	}
	return Bytes(h.content).Read(ctx, key, moved)
}

// findInColumns finds the documents with the wanted identities in the columns of identities and versions.
func (s *Segment) findInColumns(ctx context.Context, wanted []layout.Identity) (found []Match, err error) {
	among := make(map[layout.Identity]bool, len(wanted))
	for _, id := range wanted {
		among[id] = true
	}
	ids, err := s.Identities(ctx)
	if err != nil {
		return nil, err
	}
	for doc, id := range ids {
		if among[id] {
			found = append(found, Match{Doc: uint32(doc), ID: id})
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	versions, err := s.Versions(ctx)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].Version = versions[found[i].Doc]
	}
	return found, nil
}

// findInStored finds the documents with the wanted identities among those with the given ranks. It reads the
// numbers of these documents from the column orderColumn, then the stored documents. The wanted identities and
// the ranks are in ascending order.
func (s *Segment) findInStored(ctx context.Context, ranks []uint32, wanted []layout.Identity) (found []Match, err error) {
	docs, err := s.ranked(ctx, ranks)
	if err != nil {
		return nil, err
	}
	slices.Sort(docs)
	stored, err := s.Stored(ctx, docs)
	if err != nil {
		return nil, err
	}
	for i, d := range stored {
		if _, is := slices.BinarySearchFunc(wanted, d.ID, layout.Identity.Compare); is {
			found = append(found, Match{docs[i], d.ID, d.Version})
		}
	}
	return found, nil
}

// ranked returns the numbers of the documents with the given ranks, which must be in ascending order. Of the
// column orderColumn, it reads only the pages with these numbers.
func (s *Segment) ranked(ctx context.Context, ranks []uint32) ([]uint32, error) {
	width := orderWidth(s.tail.documents)
	total := int64(width) * int64(s.tail.documents)
	begin, err := s.pagedColumn(orderColumn, orderKind, total)
	if err != nil {
		return nil, err
	}
	var pages []blob.Range
	of := make([]int, len(ranks)) // for each rank, the index of its page in pages
	for i, rank := range ranks {
		page := pagesOf(blob.Range{Offset: int64(rank) * int64(width), Length: int64(width)}, total)
		page.Offset += begin
		if len(pages) == 0 || pages[len(pages)-1] != page {
			pages = append(pages, page)
		}
		of[i] = len(pages) - 1
	}
	contents, err := s.read(ctx, pages)
	if err != nil {
		return nil, err
	}
	docs := make([]uint32, len(ranks))
	for i, rank := range ranks {
		number, err := fromPages(contents[of[i]], blob.Range{Offset: int64(rank) * int64(width), Length: int64(width)})
		if err != nil {
			return nil, s.wrap(fmt.Errorf("column %s: %w", orderColumn, err))
		}
		docs[i] = numberAt(number)
	}
	return docs, nil
}
