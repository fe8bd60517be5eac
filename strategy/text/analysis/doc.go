// Package analysis cuts text into the terms that are indexed and asked for. One
// table gives each language its analyzer with a version; documents, queries and
// snippets go through the same one.
//
// # Words
//
// Where words begin and end depends on the text alone, never on the language;
// only a word's term does. So a page whose language was mistaken loses stems
// but no words, a phrase stands at the same positions in every language, and
// the terms of one word of a query in several languages are synonyms.
//
// A word is a run of letters and digits (Unicode L and N) with their marks.
// Everything else separates, and every part is a word that can be found:
//
//	snake_case, os.path  →  snake case, os path
//	1.5.2, a@b.org       →  1 5 2, a b org
//	e-mail, l'eau, it's  →  e mail, l eau, it s
//	.NET, v1.5           →  net, v1 5
//	C++, C#              →  c++ and c, c# and c, at one position
//
// The last rule holds for one letter: whoever asks for C++ means no other C,
// and whoever asks for C finds both. Soft hyphens, joiners and variation
// selectors inside words are dropped; a zero-width non-joiner between Arabic
// letters separates (کتاب‌ها is كتاب ها). Words of more than 128 bytes are
// counted but not indexed.
//
// # Scripts without spaces
//
// Han, kana, Hangul, Thai, Lao, Khmer, Burmese, Tibetan and Yi are cut into
// what their readers take for a character: never inside a unit in which no word
// can begin or end (see clusterEnd), in Tibetan a syllable. Each character is
// one position and gives one term: itself, a space, and the character that
// follows it in its run, if any.
//
//	日本語  →  "日 本" 1, "本 語" 2, "語 " 3
//
// Any piece of a run is so the phrase of its pairs, and a lone character the
// beginning "日 " of all terms of it wherever it stands: Query calls that a
// Prefix. That takes a term for each run more than pairs alone, where terms of
// single characters would take one for each character. A tsheg or zero-width
// space does not end a run. Traditional and simplified Han differ.
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
