// Package query is the query function: it searches, and shows stored copies of pages. It reads only the
// bucket, so any number of instances can run anywhere. Its packages are
//
//	engine      searches, and reads stored copies
//	request     reads the parameters of requests, and tells clients what is wrong with a request
//	web         serves pages for people
//	api         serves programs by the HTTP API
//	compat      serves front ends made for Algolia and Meilisearch
//	mcp         answers language models by the Model Context Protocol
//	client      calls the HTTP API from programs in Go
//	access      decides who may use the API, by keys
//	compress    compresses long answers by gzip
//	limit       limits the requests of each client, and those that are answered at the same time
//	querytest   fills buckets for tests
package query

import (
	"net/http"

	"github.com/bucketsearch/bucketsearch/functions/query/access"
	"github.com/bucketsearch/bucketsearch/functions/query/api"
	"github.com/bucketsearch/bucketsearch/functions/query/compat"
	"github.com/bucketsearch/bucketsearch/functions/query/compress"
	"github.com/bucketsearch/bucketsearch/functions/query/mcp"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/query/web"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

// Handler serves all paths of the query function: those of package web, those of package api below /v1/,
// those of package compat below /compat/, and those about the server (see serverRoutes). A request to
// /search that accepts JSON is answered by the API.
func Handler(site web.Site) http.Handler {
	guard := &access.Guard{Settings: site.Engine.Settings, Now: site.Engine.Now}
	site.Suggest = api.Suggest
	pages, programs := web.Handler(site), api.Handler(site.Engine, guard)
	mux := http.NewServeMux()
	mux.Handle("/v1/", programs)
	mux.Handle(api.Suggest, programs)
	mux.HandleFunc(api.Search, func(w http.ResponseWriter, r *http.Request) {
		if request.WantsJSON(r) {
			programs.ServeHTTP(w, r)
		} else {
			pages.ServeHTTP(w, r)
		}
	})
	mux.Handle("/compat/", compat.Handler(site.Engine, guard))
	mux.Handle("/mcp", api.Protect(mcp.Handler(site.Engine), site.Engine, guard, control.Search, control.Page))
	mux.Handle("/", pages)
	serverRoutes(mux, site.Engine)
	return compress.Handler(mux)
}
