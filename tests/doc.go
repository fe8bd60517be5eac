// Package tests runs the whole program, from crawl to search: on a generated site of three hosts
// and on real sites; with its functions in this process and in child processes; with messages
// that are delivered twice, late and out of order; and with processes that are killed at any
// moment. Each run must have the same result as a run without disturbances.
//
// The environment variable BUCKETSEARCH_SITES names a directory of unpacked
// Debian packages, whose documentation is crawled as well; see the script run.
package tests
