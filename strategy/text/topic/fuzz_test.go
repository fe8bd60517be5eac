package topic

import "testing"

func FuzzTopic(f *testing.F) {
	f.Add("full text search", sample, "en", "Text search", "https://a.org/TextSearch.html?q=%20", float32(1))
	f.Add("数据库", "数据库 数据库 数据库", "zh", "数据", "https://a.org/%E8%8C", float32(0.5))
	f.Add("C++ \xff", "a a a b b b", "", "\xe8", "%", float32(-1))
	f.Fuzz(func(t *testing.T, word, text, lang, anchor, url string, page float32) {
		topic, err := New([]string{word}, []string{text}, lang)
		if err != nil {
			return
		}
		relevance := topic.Page(anchor, text)
		weight := topic.Link(anchor, text, url, page)
		if !(relevance >= 0 && relevance <= 1) || page == page && !(weight >= 0 && weight <= 1) {
			t.Errorf("relevance %v, weight %v", relevance, weight)
		}
		if topic.Page(anchor, text) != relevance {
			t.Error("the relevance depends on what was read before")
		}
	})
}
