// Package query is the query function: it searches, and shows stored copies of pages. It reads only the
// bucket, so any number of instances can run anywhere. Its packages are
//
//	engine      answers
//	request     reads parameters, and tells clients what went wrong
//	web         serves pages for people
//	mcp         answers language models, by the Model Context Protocol
//	querytest   fills buckets for tests
package query

import (
	"net/http"

	"github.com/bucketsearch/bucketsearch/functions/query/mcp"
	"github.com/bucketsearch/bucketsearch/functions/query/web"
)

// Handler serves all that clients can ask for by HTTP.
func Handler(site web.Site) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler(site))
	mux.Handle("/mcp", mcp.Handler(site.Engine))
	return mux
}
