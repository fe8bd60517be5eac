package system

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// newProxy serves the object store of a system at another address, and lets a function change or answer
// each request first. It returns the URL of the bucket there. The function returns false if it has answered.
func newProxy(t *testing.T, s *System, change func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	origin, err := url.Parse(s.store.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = origin.Scheme, origin.Host
		r.Out.Host = r.In.Host // which is signed
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if change(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + origin.Path
}

// TestCheckStore attaches stores that honour and that ignore the condition of a PUT, and one that refuses
// to store anything.
func TestCheckStore(t *testing.T) {
	t.Parallel()
	s := open(t, options(t))
	for name, test := range map[string]struct {
		change func(http.ResponseWriter, *http.Request) bool
		want   string // in the error; "" if there is none
	}{
		"honours": {func(http.ResponseWriter, *http.Request) bool { return true }, ""},
		"ignores": {func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				w.Header().Set("ETag", `"0"`)
			}
			return r.Method != http.MethodPut
		}, "ignores the condition If-None-Match of a PUT"},
		"refuses": {func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
			}
			return r.Method != http.MethodPut
		}, ""},
	} {
		url := newProxy(t, s, test.change)
		a, err := Attach(t.Context(), Options{S3: url, Data: t.TempDir(), Getenv: s.store.getenv})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}()
		if err := a.CheckStore(t.Context()); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("a store that %s: %v, want %q", name, err, test.want)
		}
		second, err := Open(t.Context(), Options{S3: url, Data: t.TempDir(), Getenv: s.store.getenv})
		if err == nil {
			err = second.Close()
		}
		if (err == nil) != (test.want == "") {
			t.Errorf("a system on a store that %s: %v, want %q", name, err, test.want)
		}
	}
}
