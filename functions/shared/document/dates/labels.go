package dates

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Label says what the words beside a date tell about it, and so how surely it is a date of the page.
type Label int

// The labels, from the least to the most trusted.
const (
	None  Label = iota // no such words
	Own                // words such as "Published" and "Updated", which may also stand beside a teaser or a comment
	Whole              // words used for whole pages only: "Last updated on", "This page was last edited on"
)

const (
	// maxBefore is the greatest distance in bytes from the beginning of a label to the beginning of the date that
	// follows.
	maxBefore = 100
	// firstUnspaced is the first of the characters of Chinese, Japanese and Korean. Words of these scripts need no
	// spaces between them.
	firstUnspaced = 0x2E80
)

// wholeLabels are the labels of the kind Whole, in lower case, by language.
var wholeLabels = phrases(`
	last updated|last modified|last edited|last changed|last revised|last reviewed|last update|last change|last modification|
	last-modified|page updated|page modified|date modified|
	zuletzt geändert|zuletzt aktualisiert|zuletzt bearbeitet|wurde zuletzt am|letzte änderung|letzte aktualisierung|letzte bearbeitung|
	dernière mise à jour|dernière modification|dernière révision|modifiée pour la dernière fois|
	última actualización|última modificación|última edición|última revisión|por última vez|
	última atualização|última modificação|última edição|pela última vez|
	ultimo aggiornamento|ultima modifica|per l'ultima volta|
	laatst bijgewerkt|laatst gewijzigd|laatst bewerkt|laatste wijziging|laatste update|
	senast uppdaterad|senast ändrad|redigerades senast|senaste uppdatering|sidst opdateret|sidst ændret|sidst redigeret|
	sist oppdatert|sist endret|sist redigert|viimeksi muokattu|viimeksi päivitetty|
	ostatnia aktualizacja|ostatnia modyfikacja|ostatnia zmiana|ostatnio edytowano|ostatnio zmodyfikowano|
	poslední aktualizace|poslední změna|naposledy editována|naposledy upraveno|
	последнее обновление|последнее изменение|последний раз|останнє оновлення|остання зміна|востаннє|
	son güncelleme|son güncellenme|son değiştirilme|utolsó frissítés|utolsó módosítás|ultima actualizare|terakhir diperbarui|terakhir diubah|
	آخر تحديث|آخر تعديل|最后更新|最后修改|最后修订|最后编辑|最後更新|最後修改|最後修訂|最後編輯|最近更新|最終更新|最終変更|最終改訂|
	최종 수정|최종 업데이트|마지막 업데이트|마지막으로 편집|마지막 수정
`)

// ownLabels are the labels of the kind Own, in lower case, by language.
var ownLabels = phrases(`
	published|updated|posted|revised|modified|first published|publication date|date published|publish date|
	veröffentlicht|aktualisiert|publiziert|erschienen|erstellt am|stand|
	publié|publiée|mis à jour|mise à jour|modifié|date de publication|
	publicado|publicada|actualizado|actualizada|fecha de publicación|
	atualizado|atualizada|data de publicação|pubblicato|pubblicata|aggiornato|aggiornata|data di pubblicazione|
	gepubliceerd|bijgewerkt|geplaatst|publicerad|uppdaterad|publiceret|opdateret|udgivet|publisert|oppdatert|julkaistu|päivitetty|
	opublikowano|zaktualizowano|data publikacji|publikováno|aktualizováno|zveřejněno|
	опубликовано|обновлено|изменено|дата публикации|дата обновления|оновлено|опубліковано|
	yayınlanma|yayın tarihi|güncelleme|güncellenme|megjelent|közzétéve|frissítve|publicat|actualizat|diterbitkan|diperbarui|
	نشر|تاريخ النشر|تم التحديث|نُشر|
	发布于|发表于|更新于|发布时间|更新时间|发布日期|更新日期|發布日期|發佈日期|更新時間|發表於|更新日|公開日|投稿日|掲載日|発行日|更新|公開|
	등록일|게시일|작성일|수정일|입력|업데이트|게시|수정
`)

// laterLabels are labels behind a date, in lower case. They are of the kind Own.
var laterLabels = phrases(`
	更新|公開|投稿|掲載|发布|發布|發佈|发表|수정|작성|tarihinde güncellendi|tarihinde yayınlandı|päivitetty|julkaistu|frissítve|közzétéve
`)

func phrases(list string) []string {
	all := strings.Split(list, "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// LabelOf returns the kind of the label that the date d has in a line of text; None if it has none. The label
// stands before the date, at most maxBefore bytes away and in the same sentence; in some languages behind it. A
// label of the kind Own must begin the line, follow punctuation, as in "By Ann, updated 26 May 2026", or begin
// with a capital. So in "The treaty was published on 26 May 2016", the word published is no label.
func LabelOf(line string, d Date) Label {
	lead := lower(trimStart(line, d.Start-maxBefore, d.Start))
	for _, label := range wholeLabels {
		if at := find(lead, label); at >= 0 {
			return Whole
		}
	}
	for _, label := range ownLabels {
		if at := find(lead, label); at >= 0 && begins(line, d.Start-len(lead)+at) {
			return Own
		}
	}
	rest := strings.TrimLeft(lower(line[d.End:]), " 日일:：に(（")
	for _, label := range laterLabels {
		if strings.HasPrefix(rest, label) {
			return Own
		}
	}
	return None
}

// trimStart returns text[start:end]. It first moves start to the beginning of a character, at least to 0.
func trimStart(text string, start, end int) string {
	start = max(start, 0)
	for start < end && !utf8.RuneStart(text[start]) {
		start++
	}
	return text[start:end]
}

// find returns the offset of a label in lead, the text before a date. It returns -1 if the label is not there as
// whole words, if a sentence ends between the label and the date, or if the label belongs to the whole site, as in
// "Site last updated".
func find(lead, label string) int {
	at := strings.LastIndex(lead, label)
	if at < 0 || strings.Contains(lead[at:], ". ") || strings.HasSuffix(strings.TrimSuffix(lead[:at], "last "), "site ") {
		return -1
	}
	first, _ := utf8.DecodeRuneInString(label)
	last, _ := utf8.DecodeLastRuneInString(label)
	previous, _ := utf8.DecodeLastRuneInString(lead[:at])
	next, _ := utf8.DecodeRuneInString(lead[at+len(label):])
	if isSpaced(first) && isSpaced(previous) || isSpaced(last) && isSpaced(next) {
		return -1
	}
	return at
}

// isSpaced reports whether a character is a letter of a script that has spaces between words.
func isSpaced(r rune) bool { return unicode.IsLetter(r) && r < firstUnspaced }

// begins reports whether a label of the kind Own may begin at an offset of the line: at the start of the line,
// behind punctuation, or with a capital (see LabelOf).
func begins(line string, at int) bool {
	first, _ := utf8.DecodeRuneInString(line[at:])
	before := strings.TrimRightFunc(line[:at], unicode.IsSpace)
	previous, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || !unicode.IsLower(first) || !unicode.IsLetter(previous)
}

// lower returns a text in lower case. If the lower case has another size, it returns the text unchanged, so that
// offsets remain valid.
func lower(text string) string {
	if low := strings.ToLower(text); len(low) == len(text) {
		return low
	}
	return text
}
