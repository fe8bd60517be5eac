package main

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/text/language/internal/model"
)

// table says which languages of a script to tell apart.
type table struct {
	script model.Script
	bits   int
	// Languages whose words stand in the texts of all others, ones that a page
	// is likely in, and others: what is common is seen oftener and wins where
	// text leaves doubt.
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

// lots returns the languages and, for each time that one of them is drawn, its
// place among them.
func (t table) lots() (codes []string, lots []int) {
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
