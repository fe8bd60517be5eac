// Package tests runs the program from end to end: on a generated site of three
// hosts and on real ones, with its functions in this process and in processes
// of their own, with deliveries that are doubled, late and out of order, and
// with kills at any moment. A quiet run says what must come of each.
//
// The environment variable BUCKETSEARCH_SITES names a directory of unpacked
// Debian packages, whose documentation is crawled as well; see the script run.
package tests
