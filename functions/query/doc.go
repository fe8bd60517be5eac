// Package query is the query function: it searches, and shows pages as they
// were stored. It reads the bucket and nothing else, so that any number of it
// can run, anywhere.
//
// An [Engine] answers; [Handler] serves its answers over HTTP.
package query
