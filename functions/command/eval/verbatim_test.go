package eval

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// thai holds Thai words: thai[i] lists the words that may stand at index i of a sentence.
var thai = [][]string{
	{"แม่", "พ่อ", "ครู", "เด็ก", "แมว", "นก", "เพื่อน", "ชาวนา", "คนขาย", "นักเรียน"},
	{"ไป", "มา", "ดู", "กิน", "ซื้อ", "ปลูก", "อ่าน", "เขียน", "ชอบ", "วาด"},
	{"ข้าว", "ปลา", "ดอกไม้", "หนังสือ", "ต้นไม้", "น้ำตาล", "รูปภาพ", "เสื้อ", "ขนม", "มะม่วง"},
	{"ที่", "ใน", "ใกล้", "หน้า", "หลัง"},
	{"ตลาด", "บ้าน", "โรงเรียน", "สวน", "แม่น้ำ", "ภูเขา", "วัด", "ทะเล", "ห้องสมุด", "ทุ่งนา"},
}

// thaiPages returns pages of random sentences. Each sentence is a list of words.
func thaiPages(pages, sentences int) (all [][][]string) {
	random := rand.New(rand.NewPCG(7, 7))
	for range pages {
		var page [][]string
		for range sentences {
			var words []string
			for _, of := range thai {
				words = append(words, of[random.IntN(len(of))])
			}
			page = append(page, words)
		}
		all = append(all, page)
	}
	return all
}

// TestVerbatimThai searches Thai pages, whose text has no spaces between words, for two words. If
// the query has no space between the words, it must find the pages in which the second word directly
// follows the first. If the query has a space, it must find all pages that have both words.
func TestVerbatimThai(t *testing.T) {
	pages := thaiPages(120, 3)
	for name, space := range map[string]string{"as they stand": "", "with a space": " "} {
		t.Run(name, func(t *testing.T) {
			var docs, queries, qrels strings.Builder
			asked := 0
			for n, page := range pages {
				var text []string
				for _, words := range page {
					text = append(text, strings.Join(words, ""))
				}
				fmt.Fprintf(&docs, "{\"id\":\"%d\",\"text\":%q}\n", n, strings.Join(text, " "))
				words := page[n%len(page)]
				at := n % (len(words) - 1)
				var relevant []int
				for other, page := range pages {
					if stand(page, words[at], words[at+1], space == "") {
						relevant = append(relevant, other)
					}
				}
				if len(relevant) > 10 {
					continue
				}
				asked++
				fmt.Fprintf(&queries, "%d\t%s\n", n, words[at]+space+words[at+1])
				for _, other := range relevant {
					fmt.Fprintf(&qrels, "%d\t%d\t1\n", n, other)
				}
			}
			dir := t.TempDir()
			file := func(name, content string) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			task := Task{Docs: file("docs.jsonl", docs.String()), Queries: file("queries.tsv", queries.String()), Qrels: file("qrels.tsv", qrels.String())}
			report, err := task.Run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d queries: %+v", asked, report.Figures)
			if asked < 30 || report.Figures.NDCG < .99 {
				t.Errorf("nDCG@10 of %d queries is %.3f, want .99", asked, report.Figures.NDCG)
			}
			for _, o := range report.Each {
				if o.Figures.Recall < 1 {
					t.Errorf("%q finds %.2f of its pages", o.Text, o.Figures.Recall)
				}
			}
		})
	}
}

// stand reports whether a page, given as a list of sentences, has both words. If the parameter
// together is true, the second word must also directly follow the first in a sentence.
func stand(page [][]string, first, second string, together bool) bool {
	if !together {
		all := slices.Concat(page...)
		return slices.Contains(all, first) && slices.Contains(all, second)
	}
	return slices.ContainsFunc(page, func(words []string) bool {
		at := slices.Index(words, first)
		return at >= 0 && slices.Index(words, second) == at+1
	})
}

// TestLoneCharacters checks that a query of a single character finds all pages that have this
// character. The character must be searched as a term, not as a prefix: a prefix stands for so many
// terms that only some of them are searched.
func TestLoneCharacters(t *testing.T) {
	var pages []*segments.Page
	for n := range 600 { // each with another pair of characters that begins with 水
		pages = append(pages, pageOf(Document{ID: fmt.Sprint(n), Text: "水" + string(rune(0x4E00+n)) + "。"}))
	}
	content, err := segments.Build(pages)
	if err != nil {
		t.Fatal(err)
	}
	built, err := segment.OpenBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	index, err := search.New([]search.Part{{Segment: built}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := index.Search(t.Context(), search.Query{Text: "水", Size: 1})
	if err != nil || result.Total != len(pages) || len(result.Notes) > 0 {
		t.Errorf("%d pages of %d, notes %q, error %v", result.Total, len(pages), result.Notes, err)
	}
}
