// Package dates finds dates in texts that people write, in many languages, and the words that say
// that a date is that of a page.
//
//	Last updated on Nov 26, 2026.
//	^^^^^^^^^^^^    ^^^^^^^^^^^^
//	label           date
//
// These forms are read, with names of months in the languages of the variable months, and with
// digits of ASCII, full width, Arabic and Persian:
//
//	2026-11-26, 2026/11/26, 2026. 11. 26., 2026年11月26日, 2026년 11월 26일
//	26 November 2026, 26th of November, 2026, 26-Nov-2026, 26 de noviembre de 2026
//	November 26, 2026, Thu Nov 26 10:00:00 UTC 2026, 2026 november 26.
//	26.11.2026, 26/11/2026, 11/26/2026, 26-11-2026
//
// If both numbers before the year may be months, as in 03/04/2026, the language decides which is the
// day (see OrderOf); with dots, as in 03.04.2026, the day is first in every language. If the language
// does not decide, the text is not read as a date. Years of two digits are not read, nor are dates of
// calendars other than the Gregorian.
//
// All functions take time linear in the size of the text.
package dates
