package dates

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Date is a date in a text.
type Date struct {
	Start, End int       // range of the text, in bytes
	Day        time.Time // beginning of the day in UTC
}

// Find returns the dates in a text, in the order of the text: the first ones, if there are more than most. The
// language of the text is a tag of RFC 5646, such as en-GB; "" if it is not known. It decides how dates such as
// 03/04/2026 are read.
func Find(text, language string, most int) (found []Date) {
	if !hasYear(text) {
		return nil
	}
	primary, region := split(language)
	s := scanner{text: text, order: orderOf(primary, region), polish: primary == "pl"}
	s.scan()
	for i := 0; i < len(s.tokens) && len(found) < most; {
		day, n := s.at(i)
		if n == 0 {
			i++
			continue
		}
		found = append(found, Date{s.tokens[i].start, s.tokens[i+n-1].end, day})
		i += n
	}
	return found
}

// Written returns the date at the beginning of a text that is written for programs, such as
// 2026-11-26T10:00:00Z or 20261126. Without such a date it returns the first date that Find finds.
func Written(text, language string) (day time.Time, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) >= 8 && (len(text) == 8 || !isDigit(rune(text[8]))) {
		if at, err := time.Parse("20060102", text[:8]); err == nil {
			return at, true
		}
	}
	if found := Find(text, language, 1); len(found) > 0 {
		return found[0].Day, true
	}
	return time.Time{}, false
}

// hasYear reports whether a text has four digits in succession, as every date has.
func hasYear(text string) bool {
	digits := 0
	for _, r := range text {
		if digits++; !isDigit(r) {
			digits = 0
		}
		if digits == 4 {
			return true
		}
	}
	return false
}

// isDigit reports whether a character is a digit of ASCII, Arabic, Persian or full width.
func isDigit(r rune) bool {
	return '0' <= r && r <= '9' || '٠' <= r && r <= '٩' || '۰' <= r && r <= '۹' || '０' <= r && r <= '９'
}

// scanner cuts a text into tokens: numbers and words.
type scanner struct {
	text   string
	order  dayOrder
	polish bool // whether the text is in Polish
	tokens []token
}

// token is a number or a word. All other characters of the text separate tokens. So do 年, 月, 日 (year, month, day)
// and the Korean words for these, although they are letters.
type token struct {
	start, end    int // range of the text, in bytes
	digits, value int // of a number: count of its digits; value, 0 if it has more than eight digits
}

func (s *scanner) scan() {
	start, digits, value := -1, 0, 0
	end := func(at int) {
		if start >= 0 {
			if digits > 8 {
				value = 0
			}
			s.tokens = append(s.tokens, token{start, at, digits, value})
		}
		start, digits, value = -1, 0, 0
	}
	for at, r := range s.text {
		switch {
		case isDigit(r):
			if start >= 0 && digits == 0 {
				end(at)
			}
			if start < 0 {
				start = at
			}
			if digits++; digits <= 8 {
				value = 10*value + digitOf(r)
			}
		case unicode.IsLetter(r) && !strings.ContainsRune("年月日년월일", r) || unicode.IsMark(r) && start >= 0 && digits == 0:
			if digits > 0 {
				end(at)
			}
			if start < 0 {
				start = at
			}
		default:
			end(at)
		}
	}
	end(len(s.text))
}

// digitOf returns the value of a digit, 0 to 9. The characters for zero of all four kinds of digits (see isDigit)
// have code points whose last hexadecimal digit is 0, such as U+0030 and U+0660.
func digitOf(r rune) int { return int(r & 0xF) }

// at returns the date that begins with token i, and the number n of tokens that it consists of. If no date begins
// there, n is 0.
func (s *scanner) at(i int) (day time.Time, n int) {
	t := s.tokens[i]
	if t.digits == 0 {
		return s.monthFirst(i)
	}
	if s.isGlued(i) {
		return day, 0
	}
	switch t.digits {
	case 4:
		return s.yearFirst(i)
	case 1, 2:
		if day, n = s.dayFirst(i); n == 0 {
			day, n = s.numbers(i)
		}
	}
	return day, n
}

// isGlued reports whether the number i belongs to something that is no date: whether it directly follows a letter,
// as in v2026.1.2, or follows a number and a point or hyphen, as the 2 in 1.2.3.2026.
func (s *scanner) isGlued(i int) bool {
	if i == 0 {
		return false
	}
	before, gap := s.tokens[i-1], s.gap(i-1)
	if gap == "" {
		r, _ := utf8.DecodeLastRuneInString(s.text[:before.end])
		return before.digits == 0 && r < firstUnspaced
	}
	return before.digits > 0 && (gap == "." || gap == "-")
}

// gap returns the text between token i and the next one. For the last token it returns a line feed, which separates
// no parts of a date.
func (s *scanner) gap(i int) string {
	if i+1 >= len(s.tokens) {
		return "\n"
	}
	return s.text[s.tokens[i].end:s.tokens[i+1].start]
}

// number returns the value of token i, if it is a number of one or two digits; if year is true, of four digits. For
// all other tokens it returns 0.
func (s *scanner) number(i int, year bool) int {
	if i >= len(s.tokens) {
		return 0
	}
	if t := s.tokens[i]; t.digits == 4 && year || (t.digits == 1 || t.digits == 2) && !year {
		return t.value
	}
	return 0
}

// month returns the month that token i names; 0 if it names none.
func (s *scanner) month(i int) int {
	if i >= len(s.tokens) || s.tokens[i].digits > 0 || s.tokens[i].end-s.tokens[i].start > 40 {
		return 0
	}
	name := strings.ToLower(s.text[s.tokens[i].start:s.tokens[i].end])
	if name == "listopada" && !s.polish { // October in Croatian
		return 0
	}
	return months[name]
}

// next returns the index of the token that may be the next part of a date behind token i. It passes over at most
// two fillers (words such as "of"). It returns len(s.tokens) if characters lie between that do not belong in a
// date.
func (s *scanner) next(i int) int {
	for range 3 {
		if gap := s.gap(i); len(gap) > 4 || strings.Trim(gap, " .,-/\u00A0\u202F'’،º°") != "" {
			break
		}
		i++
		if t := s.tokens[i]; t.digits > 0 || t.end-t.start > 8 || !fillers[strings.ToLower(s.text[t.start:t.end])] {
			return i
		}
	}
	return len(s.tokens)
}

// yearFirst reads 2026-11-26, 2026年11月26日, 2026 november 26.
func (s *scanner) yearFirst(i int) (day time.Time, n int) {
	first, second := strings.TrimSpace(s.gap(i)), strings.TrimSpace(s.gap(i+1))
	switch first + second {
	case "--", "//", "..", "年月", "년월":
		return s.date(s.tokens[i].value, s.number(i+1, false), s.number(i+2, false), i, i+2)
	}
	if month := s.next(i); s.month(month) > 0 {
		last := s.next(month)
		return s.date(s.tokens[i].value, s.month(month), s.number(last, false), i, last)
	}
	return day, 0
}

// dayFirst reads 26 November 2026.
func (s *scanner) dayFirst(i int) (day time.Time, n int) {
	month := s.next(i)
	if s.month(month) == 0 {
		return day, 0
	}
	year := s.next(month)
	return s.date(s.number(year, true), s.month(month), s.tokens[i].value, i, year)
}

// monthFirst reads November 26, 2026, and Nov 26 10:00:00 UTC 2026.
func (s *scanner) monthFirst(i int) (day time.Time, n int) {
	month := s.month(i)
	if month == 0 {
		return day, 0
	}
	number := s.next(i)
	if s.number(number, false) == 0 {
		return day, 0
	}
	year := s.next(number)
	if s.number(year, true) == 0 {
		year = number + 1
		for range 2 {
			if year+1 < len(s.tokens) && s.gap(year) == ":" {
				year++ // to the token of the minutes, then of the seconds
			}
		}
		if year++; s.number(year, true) == 0 { // the token is the time zone
			year++
		}
		if year > number+5 || year < number+3 {
			return day, 0
		}
	}
	return s.date(s.number(year, true), month, s.tokens[number].value, i, year)
}

// numbers reads 26.11.2026, 26/11/2026 and 11/26/2026.
func (s *scanner) numbers(i int) (day time.Time, n int) {
	separator := strings.TrimSpace(s.gap(i))
	if separator != strings.TrimSpace(s.gap(i+1)) {
		return day, 0
	}
	first, second, year := s.tokens[i].value, s.number(i+1, false), s.number(i+2, true)
	order := s.order
	switch {
	case separator == ".":
		order = dayFirst
	case separator != "/" && separator != "-":
		return day, 0
	case first > 12 || first == second:
		order = dayFirst
	case second > 12:
		order = monthFirst
	}
	switch order {
	case dayFirst:
		return s.date(year, second, first, i, i+2)
	case monthFirst:
		return s.date(year, first, second, i, i+2)
	}
	return day, 0
}

// date returns the date with the given year, month and day, and the number n of its tokens, which are those from
// first to last. It returns 0 for n if there is no such day, or if the last number goes on, as in 1.2.2026.7.
func (s *scanner) date(year, month, day, first, last int) (at time.Time, n int) {
	if year < 1000 || month < 1 || month > 12 || day < 1 {
		return at, 0
	}
	if gap := s.gap(last); (gap == "." || gap == "-") && s.tokens[last+1].digits > 0 {
		return at, 0
	}
	at = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if at.Day() != day {
		return at, 0
	}
	return at, last - first + 1
}
