package helm

import (
	"strings"
	"testing"
)

// TestRefuse renders the chart of infra/servers with values that make no system that works.
func TestRefuse(t *testing.T) {
	t.Parallel()
	const enough = "image: i\ns3: http://127.0.0.1:9000/pages\n"
	for values, want := range map[string]string{
		"":                                "image is missing",
		"image: i":                        "s3 is missing",
		enough + "querry: {replicas: 1}":  "querry",
		enough + "query: {replicas: two}": "replicas",
		enough + "workers: {fetch: {functions: [fetsch]}}": "fetsch",
		enough + "workers: {clocks: {min: 0}}":             "workers.clocks.min must be at least 1, because the clock of schedule ticks",
		enough + "workers: {index: {messages: null}}":      "workers.index.messages is missing",
	} {
		if _, err := Render(chart, "bucketsearch", values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("values %q: error %v, want one with %q", values, err, want)
		}
	}
}

// TestNotes checks what the user is told: which functions nobody runs, and where the search page is.
func TestNotes(t *testing.T) {
	t.Parallel()
	const enough = "image: i\ns3: http://127.0.0.1:9000/pages\n"
	for values, want := range map[string]string{
		enough:                            "\nSearch, at http://127.0.0.1:8080/:\n\n  kubectl --namespace default port-forward service/docs-query 8080:80",
		enough + "workers: {fetch: null}": "\nWARNING: no group of workers runs fetch.",
		enough + "ingress: {host: search.example.org, tlsSecret: t}": "\nSearch: https://search.example.org/",
	} {
		if rendered, err := Render(chart, "docs", values); err != nil || !strings.Contains(rendered.Notes, want) {
			t.Errorf("values %q: notes %v\n%s\nwant some with %q", values, err, rendered.Notes, want)
		}
	}
	rendered, err := Render(chart, "docs", enough)
	if err != nil || strings.Contains(rendered.Notes, "WARNING") {
		t.Errorf("notes of the chart's own values: %v\n%s", err, rendered.Notes)
	}
}
