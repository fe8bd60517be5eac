package topic

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
	"github.com/bucketsearch/bucketsearch/strategy/text/language"
)

// Limits of the description of a topic, and of the texts that are judged.
const (
	MaxWords   = 1_000   // maximum number of words and phrases; more are an error
	MaxSamples = 100     // maximum number of samples; more are an error
	MaxText    = 1 << 16 // number of bytes of a sample or page that are read; the rest is ignored
	MaxShort   = 2048    // number of bytes of a title, address or text at a link that are read; the rest is ignored
)

// Factors, from 0 to 1, by which evidence of the topic is multiplied. The factor depends on where
// the evidence was found: in a page's title, in the anchor (text) of a link, in the address of a
// link, in the words around a link, or in the page that contains the link. Other numbers would
// hardly change the order of links, as long as none is 0.
const (
	titleWeight  = 0.8
	anchorWeight = 0.8
	urlWeight    = 0.6
	aroundWeight = 0.3
	pageWeight   = 0.5

	inheritance = 0.8 // a page passes at least this share of its expected relevance on to its links (see Inherit)
)

// Topic is the subject of a crawl. It is safe for concurrent use. For the zero Topic, the
// relevance of every page and link is 0.
type Topic struct {
	vocabulary
	matchers *sync.Pool // pool of *matcher
}

// New returns the topic that is described by the given words and phrases, by the texts of sample
// pages, or by both. Package analysis splits the description and all pages into terms, by the rules
// of the language lang (ISO 639-1). If lang is "", New identifies the language by the samples or,
// if there are none, by the words. If there are only a few words, their language often cannot be
// identified. Then the words are not stemmed, and match only in their exact form. New returns an
// error if a limit is exceeded, or if the topic has no features, because no words were given and no
// term is characteristic of the samples.
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

// identify returns the language of the samples or, without samples, of the words; "" if it
// is uncertain.
func identify(words, samples []string) string {
	texts := samples
	if len(texts) == 0 {
		texts = words
	}
	lang, _ := language.Identify(strings.Join(texts, "\n"))
	return lang
}

// Page returns the relevance of a page: how much it is about the topic, from 0 to 1.
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

// Link returns the weight of a link: how likely it leads to a page about the topic, from 0 to 1.
// The weight is estimated from the text of the link (anchor), the words before and after it
// (around), its address (url), and the relevance (page) that it inherits from its page (see
// Inherit).
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

// Inherit returns the relevance (0 to 1) that a page passes on to its links: the last argument for
// Link. The parameter page is the page's own relevance (see Page). The parameter weight is the
// weight of the link by which the page was found (see Link), 1 for a seed. A page that is less
// relevant than this weight promised, such as a list of links, may still lead to relevant pages. So
// the result is
//
//	max(page, inheritance · min(1, weight / pageWeight))
func Inherit(page, weight float32) float32 {
	return max(page, inheritance*min(1, weight/pageWeight))
}
