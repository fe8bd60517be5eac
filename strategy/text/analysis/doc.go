// Package analysis splits text into the terms that are indexed and searched. Each language has an
// analyzer, and the analyzer has a version. Documents, queries and snippets are split by the same
// analyzer.
//
// # Words
//
// Word boundaries depend only on the text, never on the language. Only the term of a word
// depends on the language. So a page whose language was mistaken loses stems but no words,
// and a phrase has the same positions in every language. If a query is analysed in several
// languages, the terms of one word are synonyms.
//
// A word is a run of letters and digits (Unicode L and N) with their marks.
// All other characters separate words, so every part can be found:
//
//	snake_case, os.path  →  snake case, os path
//	1.5.2, a@b.org       →  1 5 2, a b org
//	e-mail, l'eau, it's  →  e mail, l eau, it s
//	e-mail, pg_dump      →  email and pgdump as well, at the position of the last part
//	.NET, v1.5           →  net, v1 5
//	C++, C#              →  c++ and c, c# and c, at one position
//
// Words with hyphens or underscores between them also form a joined word, which has a term of its
// own if it has a letter. So e-mail and email find each other, as do UTF-8 and utf8, and an
// identifier is one rare word. Signs behind a word, as in C++, belong to it only if the word is a
// single letter.
// A search for C++ does not find C, but a search for C finds both. Soft hyphens, joiners
// and variation selectors inside words are dropped. A zero-width non-joiner between Arabic
// letters separates words (کتاب‌ها is كتاب ها). Words of more than 128 bytes have a
// position but are not indexed.
//
// # Scripts without spaces
//
// Han, kana, Hangul, Thai, Lao, Khmer, Burmese, Tibetan and Yi are cut into what their
// readers see as characters, in Tibetan into syllables: no word begins or ends inside one
// (see clusterEnd). Each character has one position and up to two terms. The first is a pair:
// the character, a space, and the next character. The second is the character and a space
// (Occurrence.First). The last character of a run has only the second.
//
//	日本語  →  "日 本" and "日 " 1, "本 語" and "本 " 2, "語 " 3
//
// So a query for a piece of a run is a phrase of pairs, and a query for a single character is one
// term. Before version 3 of the analyzers there were no second terms. In documents of that time, a
// single character is found as a prefix of terms. A tsheg or zero-width space does not end a run.
// Traditional and simplified Han characters have different terms.
//
// # Terms
//
// The surface form of a word, kept for spelling, is its NFKC in lower case (of
// the language: Turkish I is ı). Its term is its stem by the language's filters,
// most of them bluge's, and then folded by script:
//
//   - Latin, Greek and Hebrew lose their marks; ß æ œ ø đ ł þ ı become ss ae oe o
//     d l th i, and ς becomes σ. Vietnamese keeps the marks, and is indexed
//     without them as well, at the same position.
//   - Cyrillic: ё is е, stress is dropped; й stays.
//   - Arabic: harakat, hamzas and tatweel are dropped; alef, yeh, kaf and heh
//     have one form each. ھ stays.
//   - Indic scripts pass bluge's Indic and Hindi normalizers.
//   - Decimal digits of every script become ASCII.
//
// Words with digits are not stemmed. Stop words are kept.
package analysis
