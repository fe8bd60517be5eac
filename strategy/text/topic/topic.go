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
// the evidence was found: in a page's title; in the text of a link, its anchor; in the address of a
// link; in the words around a link; or in the page that contains the link. The order of links
// hardly depends on these numbers, as long as none is 0.
const (
	titleWeight  = 0.8
	anchorWeight = 0.8
	urlWeight    = 0.6
	aroundWeight = 0.3
	pageWeight   = 0.5

	inheritance = 0.8 // share of a page's expected relevance that its links inherit
)

// Topic is the subject of a crawl. It is safe for concurrent use. For the zero Topic, the
// relevance of every page and link is 0.
type Topic struct {
	vocabulary
	matchers *sync.Pool // pool of *matcher
}

// New returns the topic that is described by words, each a word or a phrase, and by samples, the
// texts of sample pages. The language lang (ISO 639-1) decides how these and all pages are split
// into terms (see package analysis). If lang is "", New identifies the language by the samples or,
// if there are none, by the words. If this fails, as it often does for a few words, words match
// only in their exact form. New returns an error if a limit is exceeded, or if there are no
// features: no words, and no term that is characteristic of the samples.
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

// Link returns the weight of a link: how likely it leads to a page about the topic, from 0 to 1. It
// is estimated from the parameters: anchor is the text of the link, around the words around it, url
// its address, and page the result of Inherit for the page that contains the link.
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

// Inherit returns the relevance that the links of a page inherit from it, from 0 to 1, for the last
// parameter of Link. Here, the parameter page is the relevance of the page (see Page). The
// parameter weight is the weight of the link by which the page was found (see Link), 1 for a seed:
// it promised a relevance of weight / pageWeight, at most 1. If page is less than most of this, the
// links inherit most of this (see inheritance).
func Inherit(page, weight float32) float32 {
	return max(page, inheritance*min(1, weight/pageWeight))
}
