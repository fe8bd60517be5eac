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
		"meta before a guess":   {"<meta charset=windows-1252>\xE9", "", "<meta charset=windows-1252>é", "windows-1252"},
		"UTF-8 as Latin-1":      {"<meta charset=windows-1252>gr\xC3\xB6\xC3\x9Fer", "text/html; charset=iso-8859-1", "<meta charset=windows-1252>größer", "utf-8"},
		"ASCII as Latin-1":      {"plain", "text/html; charset=iso-8859-1", "plain", "windows-1252"},
		"meta cannot say 16":    {"<meta charset=utf-16>é", "", "<meta charset=utf-16>é", "utf-8"},
		"XML declaration":       {"<?xml version='1.0' encoding='iso-8859-2'?>\xB1", "", "<?xml version='1.0' encoding='iso-8859-2'?>ą", "iso-8859-2"},
		"meta too late":         {strings.Repeat(" ", maxPrescan) + "<meta charset=iso-8859-2>", "", strings.Repeat(" ", maxPrescan) + "<meta charset=iso-8859-2>", "utf-8"},
		"UTF-8 with a defect":   {"é a\xFFb", "text/html; charset=utf-8", "é a\uFFFDb", "utf-8"},
		"HTTP refuted":          {"<meta charset=windows-1251>\xCF\xF0", "text/html; charset=utf-8", "<meta charset=windows-1251>Пр", "windows-1251"},
		"detected Cyrillic":     {encoded(t, "windows-1251", strings.Repeat(russian, 4)), "text/html", strings.Repeat(russian, 4), "windows-1251"},
		"detected Japanese":     {encoded(t, "euc-jp", strings.Repeat(japanese, 4)), "text/html", strings.Repeat(japanese, 4), "euc-jp"},
		"detected Korean":       {encoded(t, "euc-kr", strings.Repeat(korean, 4)), "text/html", strings.Repeat(korean, 4), "euc-kr"},
	} {
		t.Run(name, func(t *testing.T) {
			text, charset, _ := Decode([]byte(c.body), c.contentType)
			if diff := cmp.Diff([]string{c.text, c.charset}, []string{string(text), charset}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// legacy are texts in the charsets of the older web, encoded by another implementation than the one
// that Decode uses.
var legacy = []struct{ label, bytes, text string }{
	{"gb18030", "\xCB\xD1\xCB\xF7\xD2\xFD\xC7\xE6\x95\x32\x82\x36\xA2\xE3", "搜索引擎𠀀€"},
	{"gbk", "\xCB\xD1\xCB\xF7\xD2\xFD\xC7\xE6\xC5\x63\xBE\x57\xED\x93", "搜索引擎與網頁"},
	{"gb2312", "\xCB\xD1\xCB\xF7\xD2\xFD\xC7\xE6", "搜索引擎"},
	{"big5", "\xB7\x6A\xB4\x4D\xA4\xDE\xC0\xBA\xBA\xF4\xAD\xB6", "搜尋引擎網頁"},
	{"big5-hkscs", "\xB7\x6A\xB4\x4D\xA4\xDE\xC0\xBA\x9D\xEF", "搜尋引擎嘅"},
	{"shift_jis", "\x8C\x9F\x8D\xF5\x83\x47\x83\x93\x83\x57\x83\x93\x87\x40\xB6\xC5", "検索エンジン①ｶﾅ"},
	{"euc-jp", "\xB8\xA1\xBA\xF7\xA5\xA8\xA5\xF3\xA5\xB8\xA5\xF3\x8E\xB6\x8E\xC5", "検索エンジンｶﾅ"},
	{"iso-2022-jp", "\x1B\x24\x42\x38\x21\x3A\x77\x25\x28\x25\x73\x25\x38\x25\x73\x1B\x28\x42", "検索エンジン"},
	{"euc-kr", "\xB0\xCB\xBB\xF6\xBF\xA3\xC1\xF8", "검색엔진"},
	{"ks_c_5601-1987", "\x94\xEE\xB0\xCB\xBB\xF6\xBF\xA3\xC1\xF8\x8C\x63", "뷁검색엔진똠"},
	{"windows-1250", "\x50\xF8\xED\x6C\x69\x9A\x20\x9E\x6C\x75\x9D\x6F\x75\xE8\x6B\xFD\x20\x6B\xF9\xF2\x20\x84\x80\x93", "Příliš žluťoučký kůň „€“"},
	{"windows-1251", "\xD1\xFA\xE5\xF8\xFC\x20\xE5\xF9\xB8\x20\xFD\xF2\xE8\xF5\x20\xE1\xF3\xEB\xEE\xEA\x20\x97\x20\xB9", "Съешь ещё этих булок — №"},
	{"windows-1252", "\x6E\x61\xEF\x76\x65\x20\x63\x61\x66\xE9\x20\x96\x20\x93\x80\x94", "naïve café – “€”"},
	{"windows-1253", "\xCE\xE5\xF3\xEA\xE5\xF0\xDC\xE6\xF9\x20\xF4\xE7\xED\x20\xF8\xF5\xF7\xEF\xF6\xE8\xFC\xF1\xE1", "Ξεσκεπάζω την ψυχοφθόρα"},
	{"windows-1254", "\x50\x69\x6A\x61\x6D\x61\x6C\xFD\x20\x68\x61\x73\x74\x61\x20\x79\x61\xF0\xFD\x7A\x20\xFE\x6F\x66\xF6\x72\x65", "Pijamalı hasta yağız şoföre"},
	{"windows-1255", "\xE3\xE2\x20\xF1\xF7\xF8\xEF\x20\xF9\xE8\x20\xE1\xE9\xED", "דג סקרן שט בים"},
	{"windows-1256", "\xE4\xD5\x20\xCD\xDF\xED\xE3\x20\xE1\xE5\x20\xD3\xD1\x20\xDE\xC7\xD8\xDA\x20\x81\x8D", "نص حكيم له سر قاطع پچ"},
	{"windows-1257", "\xC1\x6C\x69\x6E\x6B\x64\x61\x6D\x61\x20\x66\x65\x63\x68\x74\x75\x6F\x74\x6F\x6A\x6F\x20\xF0\x70\x61\x67\x61", "Įlinkdama fechtuotojo špaga"},
	{"windows-1258", "\x54\xF4\x69\x20\xF0\x69\x20\x68\x6F\xF2\x63\x20\xF5\x20\xFD", "Tôi đi học ơ ư"},
	{"windows-874", "\xE0\xBB\xE7\xB9\xC1\xB9\xD8\xC9\xC2\xEC", "เป็นมนุษย์"},
	{"tis-620", "\xE0\xBB\xE7\xB9\xC1\xB9\xD8\xC9\xC2\xEC", "เป็นมนุษย์"},
	{"koi8-r", "\xF3\xDF\xC5\xDB\xD8\x20\xC5\xDD\xA3\x20\xDC\xD4\xC9\xC8\x20\xC2\xD5\xCC\xCF\xCB", "Съешь ещё этих булок"},
	{"koi8-u", "\xB7\xD6\xC1\xCB\x20\xAD\xC1\xD7\xC1\x20\xA4\xCE\xCF\xD4", "Їжак ґава єнот"},
	{"ibm866", "\x91\xEA\xA5\xE8\xEC\x20\xED\xE2\xA8\xE5\x20\xA1\xE3\xAB\xAE\xAA", "Съешь этих булок"},
	{"macintosh", "\x6E\x61\x95\x76\x65\x20\x63\x61\x66\x8E", "naïve café"},
	{"x-mac-cyrillic", "\x91\xFA\xE5\xF8\xFC\x20\xFD\xF2\xE8\xF5\x20\xE1\xF3\xEB\xEE\xEA", "Съешь этих булок"},
	{"iso-8859-1", "\x6E\x61\xEF\x76\x65\x20\x63\x61\x66\xE9", "naïve café"},
	{"iso-8859-2", "\x50\xF8\xED\x6C\x69\xB9\x20\xBE\x6C\x75\xBB\x6F\x75\xE8\x6B\xFD\x20\x6B\xF9\xF2", "Příliš žluťoučký kůň"},
	{"iso-8859-3", "\x45\xB6\x6F\xFE\x61\x6E\xF8\x6F\x20\xE6\x69\x75\xBC\x61\xFD\x64\x65", "Eĥoŝanĝo ĉiuĵaŭde"},
	{"iso-8859-4", "\xC7\x6C\x69\x6E\x6B\x64\x61\x6D\x61\x20\xB9\x70\x61\x67\x61", "Įlinkdama špaga"},
	{"iso-8859-5", "\xC1\xEA\xD5\xE8\xEC\x20\xED\xE2\xD8\xE5\x20\xD1\xE3\xDB\xDE\xDA", "Съешь этих булок"},
	{"iso-8859-6", "\xE6\xD5\x20\xCD\xE3\xEA\xE5", "نص حكيم"},
	{"iso-8859-7", "\xCE\xE5\xF3\xEA\xE5\xF0\xDC\xE6\xF9", "Ξεσκεπάζω"},
	{"iso-8859-8", "\xE3\xE2\x20\xF1\xF7\xF8\xEF", "דג סקרן"},
	{"iso-8859-9", "\x79\x61\xF0\xFD\x7A\x20\xFE\x6F\x66\xF6\x72\x65", "yağız şoföre"},
	{"iso-8859-10", "\xC7\x6C\x69\x6E\x6B\x64\x61\x6D\x61\x20\xBA\x70\x61\x67\x61", "Įlinkdama špaga"},
	{"iso-8859-13", "\xC1\x6C\x69\x6E\x6B\x64\x61\x6D\x61\x20\xF0\x70\x61\x67\x61", "Įlinkdama špaga"},
	{"iso-8859-14", "\xD0\x79\x74\x68\x20\xB8", "Ŵyth ẁ"},
	{"iso-8859-15", "\x63\xBD\x75\x72\x20\xA4", "cœur €"},
	{"iso-8859-16", "\xDE\x61\x72\xE3\x20\xBA\x69\x20\xA5\xA4\xB5", "Țară și „€”"},
}

func TestLegacyCharsets(t *testing.T) {
	for _, c := range legacy {
		t.Run(c.label, func(t *testing.T) {
			for how, page := range map[string]struct{ before, contentType string }{
				"HTTP":       {"", "text/html; charset=" + c.label},
				"meta":       {"<meta charset=" + c.label + ">", "text/html"},
				"http-equiv": {"<meta http-equiv=Content-Type content='text/html; charset=" + c.label + "'>", ""},
				"XML":        {`<?xml version="1.0" encoding="` + c.label + `"?>`, "application/xhtml+xml"},
			} {
				text, _, _ := Decode([]byte(page.before+c.bytes), page.contentType)
				if diff := cmp.Diff(page.before+c.text, string(text)); diff != "" {
					t.Errorf("by %s: %s", how, diff)
				}
			}
		})
	}
}

// TestCharsetsByTheirBytes checks that the charset of a page that declares none is guessed from its
// bytes.
func TestCharsetsByTheirBytes(t *testing.T) {
	for charset, text := range map[string]string{
		"gb18030":      "搜索引擎定期访问网站，保存每一个网页，并回答用户的问题。本网站提供最新的新闻、天气预报和体育比赛的结果，欢迎大家经常来看看。",
		"big5":         "搜尋引擎定期訪問網站，保存每一個網頁，並回答使用者的問題。本網站提供最新的新聞、天氣預報和體育比賽的結果，歡迎大家經常來看看。",
		"shift_jis":    "検索エンジンはウェブサイトを巡回し、すべてのページを保存して、質問に答えます。このサイトでは最新のニュースと天気予報をお届けします。",
		"euc-jp":       "検索エンジンはウェブサイトを巡回し、すべてのページを保存して、質問に答えます。このサイトでは最新のニュースと天気予報をお届けします。",
		"euc-kr":       "검색 엔진은 웹사이트를 방문하고 모든 페이지를 저장하며 질문에 답합니다. 이 사이트는 최신 뉴스와 날씨를 알려 드립니다.",
		"windows-1251": "Поисковая система обходит сайты, хранит каждую страницу и отвечает на вопросы. На этом сайте вы найдёте свежие новости, погоду и спорт.",
		"koi8-r":       "Поисковая система обходит сайты, хранит каждую страницу и отвечает на вопросы. На этом сайте вы найдёте свежие новости, погоду и спорт.",
		"windows-1253": "Η μηχανή αναζήτησης επισκέπτεται τους ιστότοπους, αποθηκεύει κάθε σελίδα και απαντά στις ερωτήσεις. Εδώ θα βρείτε τα νέα και τον καιρό.",
		"windows-1255": "מנוע החיפוש מבקר באתרים, שומר כל עמוד ועונה על שאלות. באתר הזה תמצאו חדשות, תחזית מזג אוויר ותוצאות ספורט מכל העולם.",
		"windows-1256": "يزور محرك البحث المواقع ويحفظ كل صفحة ويجيب عن الأسئلة. ستجد في هذا الموقع آخر الأخبار وحالة الطقس ونتائج الرياضة من العالم.",
		"windows-1252": "Die Suchmaschine besucht regelmäßig alle Websites, hält jede Seite für später fest und beantwortet Fragen. Hier finden Sie Nachrichten über das Wetter und größere Städte.",
		"windows-1254": "Arama motoru siteleri düzenli olarak gezer, her sayfayı saklar ve soruları yanıtlar. Bu sitede güncel haberleri, hava durumunu ve spor sonuçlarını bulacaksınız.",
		"iso-8859-2":   "Vyhledávač pravidelně prochází stránky, každou uloží a odpovídá na otázky. Na tomto webu najdete čerstvé zprávy, předpověď počasí a výsledky sportovních utkání.",
	} {
		t.Run(charset, func(t *testing.T) {
			got, _, _ := Decode([]byte(encoded(t, charset, text)), "text/html")
			if diff := cmp.Diff(text, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
