package segment

import "github.com/bucketsearch/bucketsearch/layout/blob"

// The positions of a block's terms are cut into pages, each closed by its
// checksum, so that any few of them can be read and verified. Their place is
// told without the checksums.
const (
	pageSize    = 1 << 10
	pageContent = pageSize - sealSize
)

// sizeInPages returns the size of n bytes of positions as they lie in the
// object.
func sizeInPages(n int64) int64 {
	return n + sealSize*((n+pageContent-1)/pageContent)
}

// appendPages appends positions in pages.
func appendPages(object, positions []byte) []byte {
	for len(positions) > 0 {
		from := len(object)
		n := min(pageContent, len(positions))
		object = seal(append(object, positions[:n]...), from)
		positions = positions[n:]
	}
	return object
}

// pagesOf returns the part of the pages, which are total bytes in size without
// checksums, that holds the range.
func pagesOf(r blob.Range, total int64) blob.Range {
	from := r.Offset / pageContent
	to := (r.Offset + r.Length + pageContent - 1) / pageContent
	end := min(to*pageSize, sizeInPages(total))
	return blob.Range{Offset: from * pageSize, Length: end - from*pageSize}
}

// fromPages returns the range out of the pages that pagesOf names.
func fromPages(pages []byte, r blob.Range) ([]byte, error) {
	if r.Length == 0 {
		return nil, nil
	}
	skip := int(r.Offset % pageContent)
	if len(pages) <= pageSize {
		// The usual case needs no copy.
		page, err := unseal(pages)
		if err != nil {
			return nil, damaged("positions at %d: %w", r.Offset, err)
		}
		return within(page, skip, r)
	}
	content := make([]byte, 0, len(pages))
	for len(pages) > 0 {
		n := min(pageSize, len(pages))
		page, err := unseal(pages[:n])
		if err != nil {
			return nil, damaged("positions at %d: %w", r.Offset, err)
		}
		content = append(content, page...)
		pages = pages[n:]
	}
	return within(content, skip, r)
}

func within(content []byte, skip int, r blob.Range) ([]byte, error) {
	if len(content) < skip+int(r.Length) {
		return nil, damaged("positions at %d end early", r.Offset)
	}
	return content[skip:][:r.Length], nil
}
