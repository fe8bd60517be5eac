// Package model tells the languages of one script apart by the letters and
// words that they use: a linear model over hashed n-grams, one table of
// weights a script.
//
// A feature is a run of one to four letters within a word, the word's ends
// counting as letters, or a whole word; of Han runs of one and two. A feature's
// hash chooses a row of its script's table, a row has a weight for each
// language (log-odds as a small integer), and the language with the greatest
// sum is the answer. Features that share a row by chance do no harm that
// training has not seen.
//
// Languages that are too close for that have a second table of whole words,
// which decides among them alone.
//
// # The file
//
// One deflate stream (RFC 1951) of tables, one after another until it ends.
// Numbers are big-endian:
//
//	kind    u8       0 the table of a script, 1 of whole words of close languages
//	script  u8       number of the script, as in the constants
//	bits    u8       the table has 1<<bits rows, at most 20
//	classes u8       1 to 64
//	scale   f32      a weight's unit, in natural log-odds
//	classes × { size u8, code }     language codes; "" is any other language
//	classes × (1<<bits) × i8        weights, all of the first language first
//
// Weights are relative to the median of their row and small ones are left
// out, so that most are zero.
package model
