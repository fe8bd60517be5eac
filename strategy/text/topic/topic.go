package topic

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
	"github.com/bucketsearch/bucketsearch/strategy/text/language"
)

// Limits of the description of a topic and of the text read of a page.
const (
	MaxWords   = 1_000   // words and phrases; more are an error
	MaxSamples = 100     // more are an error
	MaxText    = 1 << 16 // bytes of a sample or page; the rest is not read
	MaxShort   = 2048    // bytes of a title, of the words at a link, of an address
)

// Weights of the pieces of evidence. The order of links hardly depends on these numbers, as
// long as all evidence counts.
const (
	titleWeight  = 0.8
	anchorWeight = 0.8
	urlWeight    = 0.6
	aroundWeight = 0.3
	pageWeight   = 0.5

	inheritance = 0.8 // share of a page's expected relevance that its links inherit
)

// Topic is the subject of a crawl. It is safe for concurrent use. No page is about the zero
// Topic.
type Topic struct {
	vocabulary
	matchers *sync.Pool // of *matcher
}

// New returns the topic that words and phrases, and the texts of sample pages, describe.
// The language (ISO 639-1) decides how these and all pages are split into terms (see
// package analysis). "" means the language of the samples, or without samples that of
// the words; a few words often leave it unknown, and then match only their exact form.
// New fails if a limit is exceeded, or if there are no words and the samples repeat no
// term.
func New(words, samples []string, lang string) (Topic, error) {
	if len(words) > MaxWords {
		return Topic{}, fmt.Errorf("topic of %d words: want at most %d", len(words), MaxWords)
	}
	if len(samples) > MaxSamples {
		return Topic{}, fmt.Errorf("topic of %d samples: want at most %d", len(samples), MaxSamples)
	}
	if lang == "" {
		lang = identify(words, samples)
	}
	t := Topic{vocabulary: newVocabulary()}
	analyzer := analysis.For(lang)
	for _, phrase := range words {
		t.describe(analyzer, phrase)
	}
	t.learn(analyzer, samples)
	if len(t.features) == 0 {
		return Topic{}, errors.New("topic says nothing: want words, or samples that repeat some")
	}
	n := len(t.features)
	t.matchers = &sync.Pool{New: func() any {
		return &matcher{analyzer: analysis.For(lang), counts: make([]int, n)}
	}}
	return t, nil
}

func identify(words, samples []string) string {
	texts := samples
	if len(texts) == 0 {
		texts = words
	}
	lang, _ := language.Identify(strings.Join(texts, "\n"), "")
	return lang
}

// Page returns how much a page is about the topic, from 0 to 1.
func (t Topic) Page(title, text string) float32 {
	if t.matchers == nil {
		return 0
	}
	m := t.matchers.Get().(*matcher)
	defer t.matchers.Put(m)
	doubt := 1 - titleWeight*m.mentions(&t.vocabulary, splitIdentifiers(title))
	doubt *= 1 - m.density(&t.vocabulary, cut(text, MaxText))
	return float32(1 - doubt)
}

// Link returns the probability, from 0 to 1, that a link leads to a page about the topic: by
// its text, the words around it, its address, and the result of Inherit for its page.
func (t Topic) Link(anchor, around, url string, page float32) float32 {
	if t.matchers == nil {
		return 0
	}
	m := t.matchers.Get().(*matcher)
	defer t.matchers.Put(m)
	doubt := 1 - pageWeight*float64(min(max(page, 0), 1))
	doubt *= 1 - anchorWeight*m.mentions(&t.vocabulary, splitIdentifiers(anchor))
	doubt *= 1 - aroundWeight*m.mentions(&t.vocabulary, cut(around, MaxShort))
	doubt *= 1 - urlWeight*m.mentions(&t.vocabulary, splitIdentifiers(addressWords(url)))
	return float32(1 - doubt)
}

// Inherit returns the argument page of Link for the links of a page, from 0 to 1. page is
// the page's relevance, as Page returned it. weight is that of the link by which the page
// was found, as Link returned it, or 1 for a seed: if the link promised more than the page
// has, the links inherit most of that.
func Inherit(page, weight float32) float32 {
	return max(page, inheritance*min(1, weight/pageWeight))
}
