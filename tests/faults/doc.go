// Package faults runs the whole pipeline in memory, one message after another
// and on a clock of its own, and lets every storage call in turn go wrong. Each
// run must end as a quiet one does: with the same pages, the same state of
// every URL and the same answers to queries, and nothing for verify to find.
package faults
