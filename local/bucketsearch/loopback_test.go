package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestOnlyThisMachineReadsALoopbackPage(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	for _, test := range []struct {
		listening, host string
		want            int
	}{
		{"127.0.0.1:8080", "127.0.0.1:8080", http.StatusOK},
		{"127.0.0.1:8080", "localhost:8080", http.StatusOK},
		{"[::1]:8080", "[::1]:8080", http.StatusOK},
		{"127.0.0.1:8080", "evil.example:8080", http.StatusMisdirectedRequest},
		{"127.0.0.1:8080", "127.0.0.1.evil.example", http.StatusMisdirectedRequest},
		{"0.0.0.0:8080", "search.example", http.StatusOK},
	} {
		listening, err := net.ResolveTCPAddr("tcp", test.listening)
		if err != nil {
			t.Fatal(err)
		}
		asked := httptest.NewRequest(http.MethodGet, "/search?q=x", nil)
		asked.Host = test.host
		answer := httptest.NewRecorder()
		handlerFor(listening, page).ServeHTTP(answer, asked)
		if answer.Code != test.want {
			t.Errorf("%s asked as %s: %d, want %d", test.listening, test.host, answer.Code, test.want)
		}
	}
}
