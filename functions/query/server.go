package query

import (
	_ "embed"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// robotsText allows crawlers to index the home page only. Results and stored copies also say
// noindex (header X-Robots-Tag), for links that lead to them.
//
//go:embed robots.txt
var robotsText string

// serverRoutes adds the paths at which other programs learn about the server:
//
//	GET /robots.txt       what crawlers may request
//	GET /opensearch.xml   description with which browsers can search here (OpenSearch 1.1)
//	GET /healthz          status 200 while the process runs
//	GET /readyz           status 200 if searches can be answered, else 503 and the reason
func serverRoutes(mux *http.ServeMux, e *engine.Engine) {
	mux.HandleFunc("GET /robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		writeText(w, http.StatusOK, "public, max-age=86400", "text/plain; charset=utf-8", robotsText)
	})
	mux.HandleFunc("GET /opensearch.xml", func(w http.ResponseWriter, r *http.Request) {
		writeText(w, http.StatusOK, "public, max-age=86400", "application/opensearchdescription+xml", describe(request.Origin(r)))
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeText(w, http.StatusOK, "no-store", "text/plain; charset=utf-8", "The process runs.\n")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		status, sentence := http.StatusOK, "Searches can be answered."
		if err := e.Ready(r.Context()); err != nil {
			e.Log.ErrorContext(r.Context(), "not ready", "error", err)
			status, sentence = http.StatusServiceUnavailable, request.FailureOf(err).Sentence
		} else if n := len(e.Resting()); n > 0 {
			sentence += fmt.Sprintf(" %d of the %d servers that search parts of the index do not answer.", n, len(e.Leaves))
		}
		writeText(w, status, "no-store", "text/plain; charset=utf-8", sentence+"\n")
	})
}

func writeText(w http.ResponseWriter, status int, cache, media, text string) {
	h := w.Header()
	h.Set("Cache-Control", cache)
	h.Set("Content-Type", media)
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // fails when the client has gone
}

// description is an OpenSearch description document.
type description struct {
	XMLName     xml.Name      `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
	Name        string        `xml:"ShortName"`
	Description string        `xml:"Description"`
	Encoding    string        `xml:"InputEncoding"`
	Addresses   []urlTemplate `xml:"Url"`
}

type urlTemplate struct {
	Type     string `xml:"type,attr"`
	Rel      string `xml:"rel,attr,omitempty"`
	First    string `xml:"indexOffset,attr,omitempty"` // number of the first result
	Template string `xml:"template,attr"`
}

// describe returns the OpenSearch description of the server. The parameter origin is its scheme and host
// (see request.Origin).
func describe(origin string) string {
	content, err := xml.MarshalIndent(description{
		Name: "Bucketsearch", Description: "Search the pages that " + origin + " has crawled.", Encoding: "UTF-8",
		Addresses: []urlTemplate{
			{Type: "text/html", Template: origin + "/search?q={searchTerms}"},
			{Type: "application/x-suggestions+json", Rel: "suggestions", Template: origin + "/suggest?format=opensearch&q={searchTerms}"},
			{Type: "application/atom+xml", First: "0", Template: origin + "/v1/search?format=atom&q={searchTerms}&from={startIndex?}&n={count?}"},
			{Type: "application/rss+xml", First: "0", Template: origin + "/v1/search?format=rss&q={searchTerms}&from={startIndex?}&n={count?}"},
			{Type: "application/opensearchdescription+xml", Rel: "self", Template: origin + "/opensearch.xml"},
		},
	}, "", " ")
	if err != nil {
		panic(fmt.Sprintf("an OpenSearch description cannot be written: %v", err)) // never: it consists of texts
	}
	return xml.Header + string(content) + "\n"
}
