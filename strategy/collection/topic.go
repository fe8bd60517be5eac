package collection

import (
	"fmt"
	"strings"
)

const (
	maxWords       = 1000     // maximum number of words of a topic
	maxSamples     = 16       // maximum number of a topic's sample pages, and likewise of its sample files
	maxSampleBytes = 32 << 10 // maximum length of a sample's text, in bytes
)

// DefaultThreshold is the threshold of a topic whose file sets none.
const DefaultThreshold = 0.3

// Topic describes the subject of the pages that a collection gathers. Its JSON is
//
//	{"words": ["database"], "samples": ["https://example.org/a"], "texts": ["…"], "threshold": 0.3}
type Topic struct {
	Words     []string `json:"words,omitzero"`
	Pages     []string `json:"samples,omitzero"` // URLs of pages on the topic
	Texts     []string `json:"texts,omitzero"`   // texts of all samples, those of Pages included, cut by CutSample
	Threshold float32  `json:"threshold"`        // links with a lower relevance, from 0 to 1, are not followed
}

// CutSample returns the beginning of a sample's text, at most 32 KiB. The rest is not
// used.
func CutSample(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxSampleBytes)], "")
}

func (t *Topic) validate() error {
	switch {
	case t == nil:
		return nil
	case len(t.Words)+len(t.Pages)+len(t.Texts) == 0:
		return fmt.Errorf("topic: want words or samples")
	case len(t.Words) > maxWords:
		return fmt.Errorf("topic: %d words: want at most %d", len(t.Words), maxWords)
	case len(t.Pages) > maxSamples || len(t.Texts) > 2*maxSamples:
		return fmt.Errorf("topic: %d sample pages and %d texts: want at most %d and %d", len(t.Pages), len(t.Texts), maxSamples, 2*maxSamples)
	case !(t.Threshold >= 0 && t.Threshold <= 1):
		return fmt.Errorf("topic: threshold %v: want a number from 0 to 1", t.Threshold)
	}
	for i, text := range t.Texts {
		if len(text) > maxSampleBytes {
			return fmt.Errorf("topic: sample %d has %d bytes: want at most %d", i+1, len(text), maxSampleBytes)
		}
	}
	for _, page := range t.Pages {
		if err := validSample(page); err != nil {
			return err
		}
	}
	return nil
}
