// Package model distinguishes the languages of one script by their letters and words: a
// linear model over hashed n-grams, with one table of weights for each script.
//
// A feature is a whole word, or an n-gram of one to four letters within a word, where the
// two ends of the word count as letters. In Han, which has no spaces, it is an n-gram of
// one or two letters. The hash of a feature chooses a row of the script's table; the row
// has a weight for each language (log-odds as a small integer). The language with the
// greatest sum of weights is the answer. Different features may have the same row by
// chance. They share it in training, too, so that the weights are right for all of them
// together.
//
// Very similar languages have a second table, whose features are whole words. This table
// only decides between these languages.
//
// # The file
//
// One deflate stream (RFC 1951) of tables, one after another until it ends.
// Numbers are big-endian:
//
//	kind    u8       0 table of a script, 1 table of whole words of similar languages
//	script  u8       number of the script, as in the constants
//	bits    u8       the table has 1<<bits rows, at most 20
//	classes u8       1 to 64
//	scale   f32      a weight's unit, in natural log-odds
//	classes × { size u8, code }     language codes; "" is any other language
//	classes × (1<<bits) × i8        weights, all of the first language first
//
// Weights are relative to the median of their row, and small ones are stored as 0, so that
// most are 0.
package model
