package mainpart

import (
	_ "embed"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/linkeddata"
)

// Kind is the kind of a page, such as article or forum; see Kinds.
type Kind string

// Kinds are the kinds of pages that KindOf distinguishes.
var Kinds = [...]Kind{"article", "collection", "documentation", "forum", "listing", "product", "service"}

//go:embed kinds.bin
var kindWeights []byte

var kindModels = sync.OnceValue(func() []*Model {
	models, err := DecodeModels(kindWeights, len(Kinds))
	if err != nil {
		panic(err) // of bytes that belong to the program
	}
	return models
})

// fewBytes is the size of a page's text in bytes below which KindOf does not guess its kind.
const fewBytes = 200

// KindOf returns the likeliest kind of a page, or "" for a page with hardly any text. There is a
// model for each of Kinds. The model that gives the page the highest score decides.
func KindOf(p *hypertext.Page, data *linkeddata.Data) Kind {
	if len(p.Text) < fewBytes {
		return ""
	}
	return Likeliest(kindModels(), PageFeatures(p, data))
}

// Likeliest returns the kind whose model gives a page the highest score. models has one model for
// each of Kinds, in their order; features are those of PageFeatures.
func Likeliest(models []*Model, features []uint8) Kind {
	f := Features{Width: len(features), Values: features, Words: []int{0}}
	best, most := 0, models[0].Score(&f)[0]
	for k, m := range models[1:] {
		if score := m.Score(&f)[0]; score > most {
			best, most = k+1, score
		}
	}
	return Kinds[best]
}

// PageFeatures returns the features of a page as a whole, from which KindOf finds its kind.
func PageFeatures(p *hypertext.Page, data *linkeddata.Data) []uint8 {
	s := survey(p, data)
	n, all := len(p.Blocks), len(p.Text)
	var inList, inTable, inCode, inForm, ended, questions, headings, headingBytes int
	for i := range p.Blocks {
		b, c := &p.Blocks[i], &s.texts[i]
		add := func(to *int, flag hypertext.Flags) {
			if b.Flags&flag != 0 {
				*to += c.bytes
			}
		}
		add(&inList, hypertext.InList)
		add(&inTable, hypertext.InTable)
		add(&inCode, hypertext.Preformed)
		add(&inForm, hypertext.InForm)
		if c.ended {
			ended++
		}
		questions += min(c.questions, 1)
		if hypertext.IsHeading(p.Elements[b.Element].Name) {
			headings++
			headingBytes += c.bytes
		}
	}
	images := 0
	for i := range p.References {
		if p.Elements[p.References[i].Element].Name == atom.Img {
			images++
		}
	}
	v := vector{surroundings: s}
	v.add(level(s.words), share(s.linked[n], all), share(s.prose[n], all), level(n), uint8(min(s.mains, 3)), uint8(min(s.articles, 20)),
		level(s.prices), share(s.inRuns, all), level(8*s.words/max(n, 1)), share(ended, n), level(questions), level(headings), share(headingBytes, all),
		share(inList, all), share(inTable, all), share(inCode, all), share(inForm, all), level(images), level(len(p.References)-images),
		level(p.Scripts), share(int(s.trees[s.core].bytes), all), share(int(s.trees[s.core].linked), int(s.trees[s.core].bytes)), level(s.told.words()))
	for _, count := range s.marked {
		v.add(level(count))
	}
	v.add(s.told.flags[:]...)
	var title hypertext.Words
	title.Add([]byte(p.Title))
	v.groups(title)
	path, steps := addressOf(p)
	var said hypertext.Words
	said.Add([]byte(path))
	v.groups(said)
	v.add(uint8(min(steps, 255)))
	v.flag(strings.Contains(path, "doc") || strings.Contains(path, "manual") || strings.Contains(path, "reference") || strings.Contains(path, "guide"))
	return v.values
}

// groups adds one feature to the vector for each of eight groups of words, such as the words of
// forums. The feature is 1 if the group is in the given set of groups, else 0.
func (v *vector) groups(words hypertext.Words) {
	for _, group := range [...]hypertext.Words{hypertext.WordForum, hypertext.WordProduct, hypertext.WordArticle, hypertext.WordList, hypertext.WordRelated, hypertext.WordCart, hypertext.WordReview, hypertext.WordFaq} {
		v.flag(words&group != 0)
	}
}

// words estimates the number of words in the texts of a page's JSON-LD: a sixth of the texts' size
// in bytes.
func (t *told) words() (n int) {
	for _, text := range t.texts {
		n += len(text) / 6
	}
	return n
}

// addressOf returns the path of the page's canonical address, in lower case, and the number of its
// segments: "docs/guide" and 2. If the page names no canonical address, the result is "" and 255, which
// stands for an unknown number.
func addressOf(p *hypertext.Page) (path string, steps int) {
	for _, l := range p.Links {
		if strings.EqualFold(strings.TrimSpace(l.Rel), "canonical") {
			if address, err := url.Parse(l.Address); err == nil {
				path = strings.ToLower(strings.Trim(address.Path, "/"))
				return path, strings.Count(path, "/") + min(len(path), 1)
			}
		}
	}
	return "", 255
}
