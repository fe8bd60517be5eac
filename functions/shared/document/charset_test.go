package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/htmlindex"
)

func encoded(t *testing.T, charset, text string) string {
	t.Helper()
	e, err := htmlindex.Get(charset)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDecode(t *testing.T) {
	const russian = "Поисковая система обходит сайты, хранит каждую страницу и отвечает на вопросы. "
	const japanese = "検索エンジンはウェブサイトを巡回し、すべてのページを保存して、質問に答えます。"
	const korean = "검색 엔진은 웹사이트를 방문하고 모든 페이지를 저장하며 질문에 답합니다. "
	for name, c := range map[string]struct{ body, contentType, text, charset string }{
		"empty":                 {"", "", "", "utf-8"},
		"ASCII":                 {"plain", "text/html", "plain", "utf-8"},
		"UTF-8 mark wins":       {"\xEF\xBB\xBFé", "text/html; charset=iso-8859-1", "é", "utf-8"},
		"UTF-16LE mark":         {"\xFF\xFEa\x00\xE9\x00", "", "aé", "utf-16le"},
		"UTF-16BE mark":         {"\xFE\xFF\x00a\x00\xE9", "", "aé", "utf-16be"},
		"HTTP before meta":      {"<meta charset=utf-8>\xB1", "text/html; charset=ISO-8859-2", "<meta charset=utf-8>ą", "iso-8859-2"},
		"HTTP badly quoted":     {"\xB1", `text/html; charset="iso-8859-2`, "ą", "iso-8859-2"},
		"HTTP unknown":          {"<meta charset=iso-8859-2>\xB1", "text/html; charset=klingon", "<meta charset=iso-8859-2>ą", "iso-8859-2"},
		"meta http-equiv":       {"<meta http-equiv=content-type content='text/html; charset=windows-1251'>\xCF", "", "<meta http-equiv=content-type content='text/html; charset=windows-1251'>П", "windows-1251"},
		"meta of another kind":  {"<meta name=description content='on charset=iso-8859-2'>é", "", "<meta name=description content='on charset=iso-8859-2'>é", "utf-8"},
		"HTTP in single quotes": {"\xB1", "text/html; charset='iso-8859-2'", "ą", "iso-8859-2"},
		"meta before UTF-8":     {"<meta charset=windows-1252>\xC3\xA9", "", "<meta charset=windows-1252>Ã©", "windows-1252"},
		"meta cannot say 16":    {"<meta charset=utf-16>é", "", "<meta charset=utf-16>é", "utf-8"},
		"XML declaration":       {"<?xml version='1.0' encoding='iso-8859-2'?>\xB1", "", "<?xml version='1.0' encoding='iso-8859-2'?>ą", "iso-8859-2"},
		"meta too late":         {strings.Repeat(" ", maxPrescan) + "<meta charset=iso-8859-2>", "", strings.Repeat(" ", maxPrescan) + "<meta charset=iso-8859-2>", "utf-8"},
		"UTF-8 with a defect":   {"a\xFFb", "text/html; charset=utf-8", "a\uFFFDb", "utf-8"},
		"detected Cyrillic":     {encoded(t, "windows-1251", strings.Repeat(russian, 4)), "text/html", strings.Repeat(russian, 4), "windows-1251"},
		"detected Japanese":     {encoded(t, "euc-jp", strings.Repeat(japanese, 4)), "text/html", strings.Repeat(japanese, 4), "euc-jp"},
		"detected Korean":       {encoded(t, "euc-kr", strings.Repeat(korean, 4)), "text/html", strings.Repeat(korean, 4), "euc-kr"},
	} {
		t.Run(name, func(t *testing.T) {
			text, charset := Decode([]byte(c.body), c.contentType)
			if diff := cmp.Diff([]string{c.text, c.charset}, []string{string(text), charset}); diff != "" {
				t.Error(diff)
			}
		})
	}
}
