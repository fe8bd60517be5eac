package topic

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// sample is a text about transactions. It has function words, such as "the", everywhere, but the
// word "transaction" only in its middle.
var sample = strings.Repeat(plain, 6) +
	strings.Repeat("a transaction ends with a commit or in a rollback of the whole transaction, ", 4) +
	strings.Repeat(plain, 6)

const plain = "it is said that the one and the other of them are to be seen in all that was and will be, and " +
	"so the reader is asked for no more than what the writer of the text had in mind for this part of it, " +
	"which is not much in the end but then it is a start for all of us, with a cup of tea or without it. "

func learnt(samples ...string) []string {
	v := newVocabulary()
	v.learn(analysis.For("en"), samples)
	return slices.Sorted(maps.Keys(v.terms))
}

func TestLearnsWhatGathers(t *testing.T) {
	got := learnt(sample)
	want := []string{"commit", "rollback", "transact"}
	for _, given := range want {
		if !slices.Contains(got, given) {
			t.Errorf("learnt %q without %q", got, given)
		}
	}
	for _, given := range []string{"the", "and", "is"} {
		if slices.Contains(got, given) {
			t.Errorf("learnt %q", given)
		}
	}
}

func TestLearnsWhatSamplesShare(t *testing.T) {
	other := strings.Repeat(plain, 4) + strings.Repeat("isolation of a transaction ", 4)
	got := learnt(sample, other)
	if diff := cmp.Diff([]string{"transact"}, got); diff != "" {
		t.Errorf("learnt (-want +got):\n%s", diff)
	}
}

func TestLearnsInScriptsWithoutSpaces(t *testing.T) {
	filler := strings.Repeat("この文書はその説明であり、それについてはここで述べることにする。", 20)
	got := learnt(filler + strings.Repeat("暗号の鍵を暗号で守る。", 5) + filler)
	if !slices.Contains(got, "暗 号") {
		t.Errorf("learnt %q", got)
	}
}

func TestPagesLikeTheSamples(t *testing.T) {
	topic := mustNew(t, nil, []string{sample}, "")
	same := topic.Page("", sample)
	part := topic.Page("", plain+" then a commit and a rollback")
	other := topic.Page("", plain)
	if same < 0.8 || part <= other || part >= same || other > 0.1 {
		t.Errorf("relevance of the sample %.2f, a part %.2f, another page %.2f", same, part, other)
	}
	if weight := topic.Link("Commit", "", "", 0); weight <= 0 {
		t.Error("a link with a learnt word weighs nothing")
	}
}

func TestWordsTellMoreThanSamples(t *testing.T) {
	both := mustNew(t, []string{"rollback"}, []string{sample}, "en")
	if word, given := both.Link("rollback", "", "", 0), both.Link("commit", "", "", 0); word <= 2*given {
		t.Errorf("a word weighs %.2f, a learnt term %.2f", word, given)
	}
}
