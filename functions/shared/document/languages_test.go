package document

import (
	"fmt"
	"strings"
	"testing"
)

// docbook returns the markup of a chapter of a manual, as DocBook's style sheets write it. It also
// returns the chapter's paragraphs and code, which are its main part. The text direction is "ltr"
// or "rtl". The parameter l has five texts in one language: the words for "next" and "contents", a
// title, and two sentences.
func docbook(direction string, l [5]string) (markup string, content []string) {
	next, contents, title, first, second := l[0], l[1], l[2], l[3], l[4]
	var s strings.Builder
	text := func(format string, what string) {
		fmt.Fprintf(&s, format, what)
		content = append(content, what)
	}
	fmt.Fprintf(&s, `<html><head><title>%s</title></head><body dir="%s"><div class="navheader"><table><tr><th colspan="3">%s</th></tr>
		<tr><td><a accesskey="n" href="2">%s</a></td></tr></table><hr/></div><div class="chapter"><div class="titlepage"><h1 class="title">%[1]s</h1></div>
		<div class="toc"><p>%s</p><dl>`, title, direction, title, next, contents)
	for i := range 6 {
		fmt.Fprintf(&s, `<dt><span class="section"><a href="#%d">1.%d. %s</a></span></dt>`, i, i, title)
	}
	s.WriteString(`</dl></div>`)
	for i := range 6 {
		number := func(sentence string) string { return fmt.Sprintf("%s (%d) %s", sentence, i, second) }
		fmt.Fprintf(&s, `<div class="section"><div class="titlepage"><h2 class="title">1.%d. %s</h2></div>`, i, title)
		text(`<p>%s</p>`, number(first))
		text(`<div class="note"><table><tr><td><p>%s</p></td></tr></table></div>`, number(first+" "+second))
		text(`<pre class="screen">%s</pre>`, fmt.Sprintf("$ apt-get install package-%d", i))
		text(`<div class="itemizedlist"><ul><li class="listitem"><p>%s</p></li>`, number(second))
		text(`<li class="listitem"><p>%s</p></li></ul></div></div>`, number(second+" "+first))
	}
	fmt.Fprintf(&s, `</div><div class="navfooter"><hr/><table><tr><td><a accesskey="n" href="2">%s</a></td></tr></table></div></body></html>`, next)
	return s.String(), content
}

// TestManualsInLanguages checks that the main part of a manual is found in English, in languages
// without spaces, and in languages that are written from right to left.
func TestManualsInLanguages(t *testing.T) {
	for name, c := range map[string]struct {
		direction string
		words     [5]string
	}{
		"English":  {"ltr", [5]string{"Next", "Table of Contents", "Package management", "The package manager resolves the dependencies before it installs anything.", "Read the log when something fails."}},
		"Japanese": {"ltr", [5]string{"次へ", "目次", "パッケージ管理", "パッケージマネージャは、インストールする前に依存関係を解決します。", "失敗したときはログを読んでください。"}},
		"Chinese":  {"ltr", [5]string{"下一页", "目录", "软件包管理", "软件包管理器在安装任何东西之前会先解决依赖关系。", "如果出现问题，请阅读日志。"}},
		"Korean":   {"ltr", [5]string{"다음", "차례", "패키지 관리", "패키지 관리자는 무엇이든 설치하기 전에 의존성을 해결합니다.", "실패하면 로그를 읽으십시오."}},
		"Thai":     {"ltr", [5]string{"ถัดไป", "สารบัญ", "การจัดการแพ็กเกจ", "ตัวจัดการแพ็กเกจจะแก้ไขการพึ่งพาก่อนที่จะติดตั้งสิ่งใด", "อ่านบันทึกเมื่อเกิดข้อผิดพลาด"}},
		"Arabic":   {"rtl", [5]string{"التالي", "جدول المحتويات", "إدارة الحزم", "يحل مدير الحزم الاعتماديات قبل أن يثبت أي شيء.", "اقرأ السجل عندما يفشل شيء ما."}},
		"Persian":  {"rtl", [5]string{"بعدی", "فهرست مطالب", "مدیریت بسته\u200cها", "مدیر بسته پیش از نصب هر چیزی وابستگی\u200cها را حل می\u200cکند.", "اگر چیزی شکست خورد، گزارش را بخوانید."}},
		"Hebrew":   {"rtl", [5]string{"הבא", "תוכן העניינים", "ניהול חבילות", "מנהל החבילות פותר את התלויות לפני שהוא מתקין משהו.", "קראו את היומן כאשר משהו נכשל."}},
	} {
		t.Run(name, func(t *testing.T) {
			markup, content := docbook(c.direction, c.words)
			lines := make(map[string]bool)
			for line := range strings.SplitSeq(Text([]byte(markup), "text/html; charset=utf-8", "http://a/").Body, "\n") {
				lines[line] = true
			}
			for _, text := range content {
				if !lines[text] {
					t.Errorf("%q is not in the main part", text)
				}
			}
			for _, navigation := range c.words[:2] {
				if lines[navigation] {
					t.Errorf("%q is in the main part", navigation)
				}
			}
		})
	}
}
