// Package dates finds dates in texts that people write, in many languages. It also finds the label of a date: words
// beside the date that say that it is a date of the page.
//
//	Last updated on Nov 26, 2026.
//	^^^^^^^^^^^^    ^^^^^^^^^^^^
//	label           date
//
// It reads dates of these forms, with the names of months in the languages of the variable namesOfMonths, and
// with digits of ASCII, full width, Arabic and Persian:
//
//	2026-11-26, 2026/11/26, 2026. 11. 26., 2026年11月26日, 2026년 11월 26일
//	26 November 2026, 26th of November, 2026, 26-Nov-2026, 26 de noviembre de 2026
//	November 26, 2026, Thu Nov 26 10:00:00 UTC 2026, 2026 november 26.
//	26.11.2026, 26/11/2026, 11/26/2026, 26-11-2026
//
// If each of the two numbers before the year may be a month, as in 03/04/2026, the language decides which of them
// is the day (see orderOf). If the language does not decide, the text is not read as a date. But with dots, as in
// 03.04.2026, the day is first in every language. Years of two digits are not read, nor are dates of other
// calendars than the Gregorian.
//
// All functions take time linear in the size of the text.
package dates
