package fetch

import (
	"cmp"
	"hash/crc64"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
)

// sums makes the sums of answers. A check is enough for them: who forges an
// answer with the sum of the one before hides only its own changes.
var sums = crc64.MakeTable(crc64.ECMA)

// sum returns book.Outcome.Body of a page: equal, and not 0, while it is sent as
// the same bytes, and the header says the same of what they mean and of what may
// be done with them.
func (a answer) sum() uint64 {
	sum := crc64.Checksum(a.body, sums)
	for _, name := range []string{"Content-Type", "X-Robots-Tag"} {
		for _, value := range a.header.Values(name) {
			sum = crc64.Update(sum, sums, []byte(value))
		}
	}
	return max(sum, 1)
}

// wordsBits are the highest of book.Outcome.Digest: of the page's words, which set
// its pace. The others tell its text.
const wordsBits = 16

// fingerprint returns book.Outcome.Digest of a page: equal, and not 0, while it
// says the same. A page that shows no text is told by its sum, and that it must not
// be shown is part of what it says.
func fingerprint(read *document.Document, sum uint64) uint64 {
	says := read.Digest()
	text := cmp.Or(says.Text, sum)
	words := cmp.Or(says.Words, text)
	digest := words>>(64-wordsBits)<<(64-wordsBits) | text>>wordsBits
	if read.Robots.NoIndex {
		digest = ^digest
	}
	return max(digest, 1)
}

// sameWords reports whether what differs between two digests is less than words:
// numbers, dates, marks.
func sameWords(digest, other uint64) bool { return (digest^other)>>(64-wordsBits) == 0 }
