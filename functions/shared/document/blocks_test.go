package document

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

// TestWithout checks which blocks of a page Without moves out of the main part. A tilde marks the
// blocks that the site repeats.
func TestWithout(t *testing.T) {
	const long = "A notice of more than sixty bytes that stands on all of the pages ~"
	for name, c := range map[string]struct {
		blocks        []string // "h2 text" is a heading, "pre text" code, "- text" outside of the main part
		body, outside []string
		headings      string
	}{
		"nothing":            {[]string{"p One", "p two"}, []string{"One", "two"}, nil, ""},
		"beginning":          {[]string{"p Site ~", "p menu ~", "p One", "p two"}, []string{"One", "two"}, []string{"Site ~", "menu ~"}, ""},
		"end":                {[]string{"p One", "p two", "p imprint ~"}, []string{"One", "two"}, []string{"imprint ~"}, ""},
		"within":             {[]string{"p One", "p Parameters ~", "p two"}, []string{"One", "Parameters ~", "two"}, nil, ""},
		"long within":        {[]string{"p One", "p " + long, "p two"}, []string{"One", "two"}, []string{long}, ""},
		"code":               {[]string{"p One", "pre } ~"}, []string{"One", "} ~"}, nil, ""},
		"label at the start": {[]string{"p Site ~", "h2 Synopsis ~", "p One"}, []string{"Synopsis ~", "One"}, []string{"Site ~"}, "Synopsis ~"},
		"label at the end":   {[]string{"p One", "h2 More ~"}, []string{"One"}, []string{"More ~"}, ""},
		"name of the site":   {[]string{"h1 Site ~", "h1 One", "p two"}, []string{"One", "two"}, []string{"Site ~"}, "One"},
		"heading outside":    {[]string{"- h3 Menu ~", "h2 One", "p two", "- h3 More ~"}, []string{"One", "two"}, []string{"Menu ~", "More ~"}, "One"},
		"all":                {[]string{"p Site ~", "h2 " + long}, []string{"Site ~", long}, nil, long},
	} {
		t.Run(name, func(t *testing.T) {
			content, repeated := blocksOf(c.blocks)
			got := content.Without(func(hash uint64) bool { return repeated[hash] })
			if diff := cmp.Diff(strings.Join(c.body, "\n"), got.Body); diff != "" {
				t.Error("body", diff)
			}
			if diff := cmp.Diff(c.headings, strings.Join(got.Headings, " ")); diff != "" {
				t.Error("headings", diff)
			}
			outside := strings.Split(got.Outside, "\n")
			slices.Sort(outside) // Outside may have a text twice
			slices.Sort(c.outside)
			if diff := cmp.Diff(strings.Join(c.outside, "\n"), strings.Join(slices.Compact(outside), "\n")); diff != "" {
				t.Error("outside", diff)
			}
			for _, large := range got.Large {
				if text := got.Body[large.Start:large.End]; !slices.Contains(got.Headings, text) {
					t.Errorf("large is %q", text)
				}
			}
		})
	}
}

// blocksOf returns the content of a page with the given blocks. A block whose text ends with ~
// stands for one that the site repeats: the returned map is true for the hashes of such blocks.
func blocksOf(blocks []string) (c Content, repeated map[uint64]bool) {
	var page strings.Builder
	for _, block := range blocks {
		block, _ = strings.CutPrefix(block, "- ")
		tag, text, _ := strings.Cut(block, " ")
		page.WriteString("<" + tag + ">" + text + "</" + tag + ">")
	}
	d := Parse([]byte(page.String()))
	kept := make([]bool, len(blocks))
	for i, block := range blocks {
		kept[i] = !strings.HasPrefix(block, "- ")
	}
	c = d.contentOf(kept, false)
	repeated = make(map[uint64]bool)
	for i, b := range c.Blocks {
		repeated[b.Hash] = repeated[b.Hash] || strings.HasSuffix(blocks[i], "~")
	}
	return c, repeated
}

// TestBlocksOfALongPage reads a page whose second block is so long that the body, cut at MaxBody, has
// only the beginning of the block. Then the method Without moves the first block out of the body,
// because the site repeats it. The beginning of the second block must stay in the body.
func TestBlocksOfALongPage(t *testing.T) {
	page := "<p>Site</p><p>" + strings.Repeat("word ", MaxBody/5+10) + "</p><p>beyond"
	content := Parse([]byte(page)).contentOf([]bool{true, true, true}, false)
	got := content.Without(func(hash uint64) bool { return hash == content.Blocks[0].Hash })
	if want := strings.TrimPrefix(content.Body, "Site\n"); got.Body != want || got.Outside != "Site" {
		t.Errorf("%d bytes of %d are left, outside %q", len(got.Body), len(want), got.Outside)
	}
	if diff := cmp.Diff([]layout.Span(nil), got.Large); diff != "" {
		t.Error(diff)
	}
}

// TestHashOfABlock checks that two blocks with the same text have different hashes if the
// elements around them have different names, such as li and h1.
func TestHashOfABlock(t *testing.T) {
	blocks := Parse([]byte("<ul><li>Install<li>Install</ul><h1>Install</h1><div><h1>Install</h1></div><ul><li>Use</ul>")).Content().Blocks
	for i, want := range []int{0, 0, 2, 3, 4} {
		if got := slices.IndexFunc(blocks, func(b Block) bool { return b.Hash == blocks[i].Hash }); got != want {
			t.Errorf("block %d is like block %d, want %d", i, got, want)
		}
	}
}
