package main

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/text/language/internal/model"
)

// table lists the languages that one table of the model distinguishes. All are written in the same
// script.
type table struct {
	script model.Script
	bits   int // the table has 1<<bits rows
	// The codes of the languages, in three groups by the number of web pages in each language.
	// Training draws samples of a main language most often, and of a rare one least. In doubt, the
	// model prefers a language that was drawn more often. A language is a main one only if its
	// words also occur in texts of other languages, as English words do.
	main, common, rare []string
}

var tables = []table{
	{model.Latin, 14,
		[]string{"en"},
		[]string{"de", "fr", "es", "pt", "it", "id", "ms", "vi", "tl", "nl", "sv", "da", "no", "fi", "pl", "cs", "hu", "ro", "tr"},
		[]string{"ca", "gl", "hr", "sk", "sl", "sq", "et", "lv", "lt", "eu", "cy", "ga", "is", "sw", "uz", "az", "af", "eo"}},
	{model.Cyrillic, 13, []string{"ru"}, []string{"kk", "ky", "mn", "tg", "uk", "bg"}, []string{"be", "sr", "mk"}},
	{model.Arabic, 12, nil, []string{"ar", "fa", "ur", "ps"}, []string{"ckb", "ug"}},
	{model.Devanagari, 12, nil, []string{"hi", "ne"}, []string{"mr"}},
	{model.Han, 13, nil, []string{"zh", "ja"}, nil},
	{model.Hebrew, 10, nil, []string{"he"}, []string{"yi"}},
	{model.Bengali, 10, nil, []string{"bn"}, []string{"as"}},
}

// draws returns the codes of the languages, and the list lots. Training chooses a language by
// drawing an element of this list at random. Each element is the index of a language in codes. The
// list has 16 elements for a main language, 4 for a common one, and one for a rare one.
func (t table) draws() (codes []string, lots []int) {
	for _, tier := range []struct {
		codes []string
		times int
	}{{t.main, 16}, {t.common, 4}, {t.rare, 1}} {
		for _, code := range tier.codes {
			lots = append(lots, slices.Repeat([]int{len(codes)}, tier.times)...)
			codes = append(codes, code)
		}
	}
	return codes, lots
}
