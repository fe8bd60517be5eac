package document

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/dates"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
)

// Limits on the text in which dates are looked for.
const (
	maxTitles     = 3    // greatest number of titles (see titles)
	beforeTitle   = 400  // bytes of text before a title
	behindTitle   = 1200 // bytes of text from the beginning of a title on
	endOfPage     = 6000 // bytes of text at the end of the page
	maxDatedLine  = 300  // greatest size of a line with a date, in bytes
	maxWeekday    = 20   // greatest size of the rest of a heading that has little but a date, such as a weekday, in bytes
	maxBesideDate = 48   // greatest size of the rest of another line that has little but a date, in bytes
	maxLineDates  = 4    // greatest number of dates of a line that are looked at
)

// shownDate returns the date that the page shows for itself. It looks at lines of at most maxDatedLine bytes:
//
//	kind of line                                                                place
//	1  label of a whole page and date: "Last updated: 5.3.2026"                 near a title, or at the end
//	2  label of a publication and date: "Published March 5, 2026"               near a title
//	3  one date and little else: "Ann Smith · March 5, 2026 · 5 min read"       near a title
//
// If there are lines of the kinds 1 and 2, the latest of their dates counts. Otherwise the first line of the kind 3
// behind a title counts; otherwise the first before a title. A line before a title does not count if its date is
// less than 48 hours before the download, since many sites show the present day above every page.
func (r *dateReader) shownDate() (date time.Time) {
	var behind, before time.Time // the dates of the first lines with little but a date
	for _, t := range r.titles() {
		for line := range r.lines(t.start-beforeTitle, t.start+behindTitle) {
			found := dates.Find(line.text, r.lang, maxLineDates)
			for _, f := range found {
				if dates.LabelOf(line.text, f) != dates.None {
					date = r.later(date, f.Day)
				}
			}
			switch {
			case len(found) != 1 || !r.isPossible(found[0].Day) || !isBare(line.text, found[0]):
			case line.flags&hypertext.InHeading != 0 && len(line.text) > found[0].End-found[0].Start+maxWeekday, line.flags&hypertext.Navigation&^t.flags != 0:
			case line.start > t.start:
				behind = cmp.Or(behind, found[0].Day)
			case r.object.Downloaded.Sub(found[0].Day) > 48*time.Hour:
				before = cmp.Or(before, found[0].Day)
			}
		}
	}
	size := max(len(r.page.Text), len(r.plain))
	for line := range r.lines(size-endOfPage, size) {
		for _, f := range dates.Find(line.text, r.lang, maxLineDates) {
			if dates.LabelOf(line.text, f) == dates.Whole {
				date = r.later(date, f.Day)
			}
		}
	}
	return cmp.Or(date, behind, before)
}

// isBare reports whether a line has little but a date.
func isBare(line string, date dates.Date) bool {
	return len(strings.TrimSpace(line[:date.Start]))+len(strings.TrimSpace(line[date.End:])) <= maxBesideDate
}

// titlePlace is the place of a heading that may be the page's title.
type titlePlace struct {
	start int             // offset in the page's text
	flags hypertext.Flags // flags of the heading, without InHeading
}

// titles returns the headings that may be the page's title. These are the first maxTitles elements h1 that have
// text and are not hidden. Without any h1 it is the first h2 outside of navigation; without any h2 the beginning
// of the text.
func (r *dateReader) titles() (all []titlePlace) {
	second := titlePlace{}
	for i := range r.page.Elements {
		e := &r.page.Elements[i]
		if e.Start == e.End || e.Flags&hypertext.Hidden != 0 {
			continue
		}
		t := titlePlace{int(e.Start), e.Flags &^ hypertext.InHeading}
		switch {
		case e.Name == atom.H1:
			if all = append(all, t); len(all) == maxTitles {
				return all
			}
		case e.Name == atom.H2 && second.start == 0 && e.Flags&hypertext.Navigation == 0:
			second = t
		}
	}
	if len(all) == 0 {
		return []titlePlace{second}
	}
	return all
}

// textLine is a line of the page's text.
type textLine struct {
	text  string
	start int             // offset in the page's text
	flags hypertext.Flags // flags of the line's block
}

// lines yields the lines of the page that begin at offsets of its text from from on and before to. It leaves out
// lines of more than maxDatedLine bytes, and those that are hidden, in an aside or in a quote.
func (r *dateReader) lines(from, to int) iter.Seq[textLine] {
	return func(yield func(textLine) bool) {
		if r.plain != "" {
			yieldLines(r.plain, 0, from, to, 0, yield)
			return
		}
		first, _ := slices.BinarySearchFunc(r.page.Blocks, from, func(b hypertext.Block, from int) int { return cmp.Compare(int(b.End), from) })
		for _, b := range r.page.Blocks[first:] {
			if int(b.Start) >= to {
				return
			}
			if b.Flags&aside == 0 && !yieldLines(string(r.page.Text[b.Start:b.End]), int(b.Start), from, to, b.Flags, yield) {
				return
			}
		}
	}
}

// yieldLines yields the lines of a text that begin at offsets from from on and before to. These offsets, and start,
// the offset of the text itself, are offsets in the page's text. It returns false if yield returned false.
func yieldLines(text string, start, from, to int, flags hypertext.Flags, yield func(textLine) bool) bool {
	for line := range strings.Lines(text) {
		if start >= to {
			return true
		}
		if start >= from && len(line) <= maxDatedLine && !yield(textLine{strings.TrimSpace(line), start, flags}) {
			return false
		}
		start += len(line)
	}
	return true
}
