package document

import (
	"bytes"

	"github.com/markusmobius/go-trafilatura"
)

// Limits beyond which no main part is looked for, because the cost of that
// grows as the square of the page: they keep it below half a second, where a
// page of ordinary size takes some milliseconds.
const (
	maxExtractedBytes = 512 << 10
	maxExtractedNodes = 10_000
)

// main returns the text of the page's main part as the extractor sees it, or
// "".
func (d *Document) main() (text string) {
	if d.size > maxExtractedBytes || d.nodes > maxExtractedNodes {
		return ""
	}
	// A page that breaks the extractor must not keep the rest of its package
	// from being indexed.
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	result, err := trafilatura.ExtractDocument(d.root, trafilatura.Options{ExcludeComments: true, HtmlDateMode: trafilatura.Disabled})
	if err != nil {
		return ""
	}
	return result.ContentText
}

// between returns where the lines of the page lie from that in which the main
// text begins to that in which it ends. The extractor finds the right place but
// drops headings and defined terms within it (of Django's documentation two
// thirds of them), and joins all lines.
func between(page []byte, main string) (from, to int) {
	const clue = 24 // bytes at either end of the main text that are looked for
	text, _ := squeeze([]byte(main))
	if len(text) < clue {
		return 0, 0
	}
	squeezed, positions := squeeze(page)
	first := bytes.Index(squeezed, text[:clue])
	last := bytes.LastIndex(squeezed, text[len(text)-clue:])
	if first < 0 || last < first {
		return 0, len(page)
	}
	from = bytes.LastIndexByte(page[:positions[first]], '\n') + 1
	to = positions[last+clue-1]
	if rest := bytes.IndexByte(page[to:], '\n'); rest >= 0 {
		return from, to + rest
	}
	return from, len(page)
}

// squeeze leaves out spaces and line feeds, which the extractor sets
// differently, and returns where each byte came from.
func squeeze(text []byte) (squeezed []byte, positions []int) {
	squeezed, positions = make([]byte, 0, len(text)), make([]int, 0, len(text))
	for i, c := range text {
		if c != ' ' && c != '\n' {
			squeezed, positions = append(squeezed, c), append(positions, i)
		}
	}
	return squeezed, positions
}
