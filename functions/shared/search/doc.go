// Package search searches any number of segments as if they were one.
//
// # Query language
//
//	fox dog            documents that hold either word; those that hold all
//	                   words score twice, and words next to each other more
//	+fox -dog          fox must occur, dog must not
//	"red fox"          the words must stand one behind the other
//	"red fox"~3        as far from that as three words in all; to swap two
//	                   takes two
//	fox*               words that begin so
//	foks~ foks~2       words that differ by an edit, or two; without a number
//	                   two if the word is long. An edit puts in, leaves out,
//	                   replaces a letter or swaps two neighbours
//	site:example.org   documents of the site; -site: none of it
//	lang:en            in the language
//	collection:news    of the collection
//	type:pdf           of the MIME type, or its second half
//	after:2026-01-31 before:2026   fetched on that day or later, and before that year
//
// Words written together ("os.path", Chinese) are several words, which a sign
// binds to a phrase. A query is analysed in its likely languages; a word's terms
// in these are synonyms. No text is a syntax error. A query without a word that
// may or must occur finds nothing.
//
// At most [MaxText] bytes and [MaxWords] words are used, and [MaxExpansions]
// words for the beginning of one or one with edits: the nearest, then the most
// frequent; [Result].Notes say so. What is dearer is refused by a [Refusal].
//
// # Scores
//
// A document scores the sum, over the words in the query's order, of their BM25
// over the fields (k1 = 1.2, b = 0.75, k3 = 8; Robertson and Zaragoza, The Probabilistic
// Relevance Framework, 2009):
//
//	Σ words Σ fields w·idf·(k1+1)·f / (f + k1·(1 − b + b·L/average)) · (k3+1)·q / (k3 + q)
//
// w is 2 for the title, 1.25 for headings, 0.75 for the address and 1 for the
// body; L is the field's length as the segments keep it, f the word's frequency
// there, q that in the query. N, the frequency of words and the average lengths of the documents that
// have a field are those of all segments, the dead included until they are
// merged away; so scores do not depend on how documents are divided. Of a word's
// synonyms the one that scores most counts, idf is that of all together, and a
// synonym that is n edits away is worth 1/(1+n).
//
// A document with all words that occur anywhere, if these are two or more,
// counts twice. Every quoted phrase adds half the BM25 of a word that is as rare
// as all of its words together. So do two or three plain words that stand next
// to each other, or the parts of one written together; they are looked for in
// the best hundred documents, and those that score as the hundredth, only.
// Equal scores are in the order of identities.
//
// # Reading
//
// A search reads in steps, each for all segments at once: the words' lists, with
// positions for phrases and for words next to each other, and the columns of
// filters and facets; the documents of the hits. There is another step before
// the documents for positions that take much to read, and for identities if
// equal scores lie on both sides of a page's border; and one before all, to read
// the dictionaries for beginnings of words and edits.
package search
