package vitals

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// answering is a network that answers by a handler.
type answering http.HandlerFunc

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a(w, r)
	if err := context.Cause(r.Context()); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func TestNotify(t *testing.T) {
	alert := Alert{"unpacked", "It is not packed yet.", start.In(time.FixedZone("", 3600))}
	tests := []struct {
		name   string
		answer http.HandlerFunc
		hook   string
		err    string
	}{
		{"taken", func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			got := []string{r.Method, r.URL.String(), r.Header.Get("Content-Type"), string(body)}
			expect(t, "request", []string{http.MethodPost, "http://hook.example/a", "application/json",
				`{"name":"unpacked","text":"It is not packed yet.","since":"2026-11-21T22:00:00Z"}`}, got)
			w.WriteHeader(http.StatusNoContent)
		}, "http://hook.example/a", ""},
		{"refused", http.NotFound, "http://hook.example/", "cannot send alert unpacked: 404 Not Found was answered"},
		{"silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "http://hook.example/", "deadline exceeded"},
		{"no address", nil, ":", "cannot send alert unpacked: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := Notify(t.Context(), &http.Client{Transport: answering(tt.answer)}, tt.hook, alert)
				if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				if took := time.Since(began); took > notifyTime {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}
