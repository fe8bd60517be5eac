// Package translation learns which terms of one language translate those of another, from pages
// that are translations of each other.
//
// It takes three steps, each by a published method:
//
//	sentences   The sentences of a page and of its translation are aligned by their lengths (Gale and
//	            Church, A Program for Aligning Sentences in Bilingual Corpora, 1993).
//	EM          IBM model 1 learns from the aligned sentences how probable each term is the
//	            translation of another (Brown et al., The Mathematics of Statistical Machine
//	            Translation, 1993, 4.1). It does so twice, once in each direction.
//	agreement   Only translations that are probable in both directions are kept (as in Och and Ney, A
//	            Systematic Comparison of Various Statistical Alignment Models, 2003, but with
//	            probabilities instead of links).
//
// Terms are those of the index, so stems are translated into stems. Terms of several words, such as
// hot dog, are not translated. A word with several meanings has one list of translations.
//
// All is bounded by counts ([Limits]), never by time, so that the same pages give the same
// dictionaries. What a limit leaves out is counted in [Summary].
package translation
