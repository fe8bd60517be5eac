// Package translation learns which terms of one language translate those of another, from pages
// that are translations of each other.
//
// Three steps, each by a published method:
//
//	sentences   of a page and its translation are aligned by their lengths (Gale and Church, A
//	            Program for Aligning Sentences in Bilingual Corpora, 1993)
//	EM          IBM model 1 learns from the aligned sentences how probable each term is the
//	            translation of another, once in each direction (Brown et al., The Mathematics of
//	            Statistical Machine Translation, 1993, 4.1)
//	both        the translations that are kept are those on which both directions agree (as in Och
//	            and Ney, A Systematic Comparison of Various Statistical Alignment Models, 2003, but
//	            with probabilities instead of links)
//
// Terms are those of the index, so that what is learnt are translations of stems. A term of several
// words (hot dog) is not learnt, nor which of its meanings a word has in a sentence.
//
// All is bounded by counts ([Limits]), never by time, so that the same pages give the same
// dictionaries. What a limit leaves out is counted in [Summary].
package translation
