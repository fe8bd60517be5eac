package topic

import (
	"strings"
	"sync"
	"testing"
)

func mustNew(t testing.TB, words, samples []string, lang string) Topic {
	t.Helper()
	topic, err := New(words, samples, lang)
	if err != nil {
		t.Fatal(err)
	}
	return topic
}

func TestNewRefuses(t *testing.T) {
	tests := []struct {
		name           string
		words, samples []string
		want           string
	}{
		{"nothing", nil, nil, "says nothing"},
		{"no letters", []string{"--", ""}, nil, "says nothing"},
		{"a sample that repeats nothing", nil, []string{"one two three"}, "says nothing"},
		{"words", make([]string, MaxWords+1), nil, "1001 words: want at most 1000"},
		{"samples", nil, make([]string, MaxSamples+1), "101 samples: want at most 100"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := New(test.words, test.samples, "en")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestLinkFindsEachEvidence(t *testing.T) {
	topic := mustNew(t, []string{"transaction", "full text search", "utf-8", "PostgreSQL"}, nil, "en")
	tests := []struct {
		name                string
		anchor, around, url string
		page                float32
		follow              bool // the link is followed at a threshold of 0.3
	}{
		{name: "nothing", anchor: "Fonts", around: "all about fonts", url: "https://a.org/fonts.html"},
		{name: "anchor", anchor: "Transactions", follow: true},
		{name: "identifier", anchor: "QTransactionLog", follow: true},
		{name: "name with capitals inside", anchor: "postgresql PostgreSQL", follow: true},
		{name: "phrase", anchor: "Text search", follow: true},
		{name: "part of a phrase", anchor: "Search"},
		{name: "phrase the wrong way round", anchor: "search text"},
		{name: "phrase with a gap", anchor: "text to search"},
		{name: "phrase in one word", url: "https://a.org/textsearch-intro.html", follow: true},
		{name: "phrase in one word with digits", url: "https://a.org/utf8.html", follow: true},
		{name: "path", url: "https://a.org/transactions/", follow: true},
		{name: "query", url: "https://a.org/show?page=transactions", follow: true},
		{name: "escapes", url: "https://a.org/%74ransactions", follow: true},
		{name: "not an extension", url: "https://a.org/fonts.transaction"},
		{name: "words around are a hint", around: "see how a transaction ends", page: 0.2, follow: true},
		{name: "good page", page: 0.7, follow: true},
		{name: "poor page", page: 0.5},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			weight := topic.Link(test.anchor, test.around, test.url, test.page)
			if (weight >= 0.3) != test.follow {
				t.Errorf("weight %.2f, follow %v", weight, test.follow)
			}
		})
	}
}

func TestMoreEvidenceWeighsMore(t *testing.T) {
	topic := mustNew(t, []string{"transaction", "rollback"}, nil, "en")
	const url = "https://a.org/transactions"
	weights := []float32{
		topic.Link("", "", "https://a.org/", 0),
		topic.Link("", "a transaction", "https://a.org/", 0),
		topic.Link("", "a transaction", url, 0),
		topic.Link("Transactions", "a transaction", url, 0),
		topic.Link("Transactions", "a transaction", url, 0.5),
		topic.Link("Transactions", "a transaction", url, 1),
		topic.Link("Transactions and their rollback", "a transaction", url, 1),
	}
	for i := 1; i < len(weights); i++ {
		if weights[i] <= weights[i-1] || weights[i] > 1 {
			t.Errorf("weights %v do not rise within 1", weights)
		}
	}
}

func TestPage(t *testing.T) {
	topic := mustNew(t, []string{"transaction"}, nil, "en")
	filler := strings.Repeat("fonts are drawn with care and printed on paper ", 100)
	tests := []struct {
		name, title, text string
		low, high         float32
	}{
		{"nothing", "", "", 0, 0},
		{"another topic", "Fonts", filler, 0, 0},
		{"title", "Transactions", "", 0.6, 1},
		{"one word in many", "Fonts", filler + "transaction", 0, 0.2},
		{"one word in few", "Fonts", "a transaction", 0, 0.5},
		{"every tenth word", "Fonts", strings.Repeat("a transaction ends when all that it wrote is kept ", 100), 0.7, 1},
		{"beyond the limit", "", strings.Repeat("é", MaxText/2) + strings.Repeat(" transaction", 1000), 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := topic.Page(test.title, test.text); got < test.low || got > test.high {
				t.Errorf("relevance %.2f, want %.2f to %.2f", got, test.low, test.high)
			}
		})
	}
}

func TestLanguages(t *testing.T) {
	tests := []struct {
		lang, word, yes, no string
	}{
		{"en", "network", "Networking", "Netting"},
		{"de", "Verschlüsselung", "Verschlusselungen", "Schloss"},
		{"ru", "транзакция", "О транзакциях", "О странах"},
		{"ja", "パッケージ", "パッケージの設定", "パスワードの設定"},
		{"zh", "数据库", "关系数据库系统", "数据的仓库"},
		{"zh", "茶", "绿茶文化", "绿色文化"},
		{"ja", "茶", "抹茶", "抹香"},
		{"", "C++", "C++ templates", "C templates"},
	}
	for _, test := range tests {
		t.Run(test.lang+" "+test.word, func(t *testing.T) {
			topic := mustNew(t, []string{test.word}, nil, test.lang)
			if got := topic.Link(test.yes, "", "", 0); got < 0.3 {
				t.Errorf("%q weighs %.2f", test.yes, got)
			}
			if got := topic.Link(test.no, "", "", 0); got > 0 {
				t.Errorf("%q weighs %.2f", test.no, got)
			}
		})
	}
}

func TestInherit(t *testing.T) {
	topic := mustNew(t, []string{"transaction"}, nil, "en")
	hops, weight := 0, float32(1)
	for ; weight >= 0.3; hops++ {
		weight = topic.Link("more", "", "https://a.org/more", Inherit(0, weight))
	}
	if hops < 3 || hops > 5 {
		t.Errorf("a crawl goes %d links without evidence", hops)
	}
	if got := Inherit(0.95, 0.3); got != 0.95 {
		t.Errorf("a page of relevance 0.95 passes on %.2f", got)
	}
}

func TestZeroTopic(t *testing.T) {
	var topic Topic
	if topic.Page("a", "b") != 0 || topic.Link("a", "b", "c", 1) != 0 {
		t.Error("the zero topic is about something")
	}
}

func TestConcurrentUseGivesTheSame(t *testing.T) {
	topic := mustNew(t, []string{"transaction", "full text search"}, []string{sample}, "en")
	want := topic.Page("Transactions", sample)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				topic.Link("full text search", "a rollback", "https://a.org/", 1)
				if got := topic.Page("Transactions", sample); got != want {
					t.Errorf("relevance %v, want %v", got, want)
				}
			}
		})
	}
	group.Wait()
}
