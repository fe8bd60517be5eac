package leaf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

const key = "0123456789abcdef"

// answerer is an Answerer that answers every question by calling itself.
type answerer func(ctx context.Context, a *search.Asked) (*search.Answer, error)

func (f answerer) Answer(ctx context.Context, a *search.Asked) (*search.Answer, error) {
	return f(ctx, a)
}

// serve starts a leaf with a key, and returns it as a root with another key sees it.
func serve(t *testing.T, ofLeaf, ofRoot string, by answerer) search.Leaf {
	t.Helper()
	own, err := Parse("", ofLeaf)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(own.Handler(by))
	t.Cleanup(server.Close)
	root, err := Parse(server.URL, ofRoot)
	if err != nil {
		t.Fatal(err)
	}
	return root.All[0]
}

func TestAsk(t *testing.T) {
	asked := &search.Asked{Segments: []string{"a", "b"}, Patience: time.Minute, Query: search.Query{Text: "fox*", Size: 10}, Totals: &search.Totals{Texts: []search.TermTotal{{Documents: 3, In: []uint64{1, 2}}}}}
	want := &search.Answer{Best: []search.Candidate{{Segment: 1, Doc: 7, Score: 1.0 / 3}}, Total: 1, Exact: true}
	l := serve(t, key, key, func(ctx context.Context, a *search.Asked) (*search.Answer, error) {
		if diff := cmp.Diff(asked.Totals, a.Totals); diff != "" || a.Query.Text != "fox*" || len(a.Segments) != 2 {
			t.Errorf("the question has changed: %+v\n%s", a, diff)
		}
		if end, ends := ctx.Deadline(); !ends || time.Until(end) > longest {
			t.Errorf("the leaf works until %v", end)
		}
		return want, nil
	})
	got, err := l.Ask(t.Context(), asked)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// TestVersionBefore lets root and leaf talk with a program of the version before, which knows answers as JSON only.
func TestVersionBefore(t *testing.T) {
	want := &search.Answer{
		Totals: &search.Totals{Texts: []search.TermTotal{{Documents: 3, In: []uint64{1, 2}}, {}}},
		Best:   []search.Candidate{{Segment: 1, Doc: 7, Score: 1.0 / 3, Vector: []byte("vector"), Phrases: []search.Occurrence{{Share: .5}}}},
	}
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(new(search.Asked)); err != nil || !strings.Contains(r.Header.Get("Accept"), binary) {
			t.Errorf("the root accepts %q; %v", r.Header.Get("Accept"), err)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(want)
	}))
	t.Cleanup(old.Close)
	root, err := Parse(old.URL, key)
	if err != nil {
		t.Fatal(err)
	}
	got, err := root.All[0].Ask(t.Context(), &search.Asked{Patience: time.Minute})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("a leaf of the version before: %v (-want +got)\n%s", err, diff)
	}
	leaf := root.Handler(answerer(func(context.Context, *search.Asked) (*search.Answer, error) { return want, nil }))
	ask := func(accept string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", Path, strings.NewReader(`{"Patience":60000000000}`))
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		leaf.ServeHTTP(w, r)
		return w
	}
	w := ask("")
	got = new(search.Answer)
	err = json.Unmarshal(w.Body.Bytes(), got)
	if diff := cmp.Diff(want, got); err != nil || diff != "" || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("a root of the version before: %v (-want +got)\n%s", err, diff)
	}
	if form := ask(binary + ", application/json").Header().Get("Content-Type"); form != binary {
		t.Errorf("a root of this version gets %s", form)
	}
}

// TestClosedConnection lets a leaf close a connection that the root has kept, as when the leaf is started again, or when
// the root's process was frozen for long. The root must ask again by a new connection.
func TestClosedConnection(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 2 {
			panic(http.ErrAbortHandler) // closes the connection
		}
		_ = json.NewEncoder(w).Encode(new(search.Answer))
	}))
	t.Cleanup(server.Close)
	root, err := Parse(server.URL, key)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if _, err := root.All[0].Ask(t.Context(), &search.Asked{Patience: time.Minute}); err != nil {
			t.Errorf("question %d: %v", n, err)
		}
	}
	if asked != 3 {
		t.Errorf("the leaf was asked %d times", asked)
	}
}

func TestAskFails(t *testing.T) {
	works := func(context.Context, *search.Asked) (*search.Answer, error) { return new(search.Answer), nil }
	for name, c := range map[string]struct {
		ofLeaf string
		by     answerer
		want   string
	}{
		"other key": {"another key 1234", works, "status 401: The key is wrong."},
		"no key":    {"", works, "status 404"},
		"failure":   {key, func(context.Context, *search.Asked) (*search.Answer, error) { return nil, errors.New("out of luck") }, "status 500: out of luck"},
	} {
		_, err := serve(t, c.ofLeaf, key, c.by).Ask(t.Context(), &search.Asked{Patience: time.Minute})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	l := serve(t, key, key, func(context.Context, *search.Asked) (*search.Answer, error) {
		return nil, fmt.Errorf("cannot answer: %w", &search.Unreadable{Segment: "segments/0000/1.seg", Err: blob.ErrAbsent})
	})
	var of *search.Unreadable
	if _, err := l.Ask(t.Context(), &search.Asked{Patience: time.Minute}); !errors.As(err, &of) || of.Segment != "segments/0000/1.seg" || !errors.Is(err, blob.ErrAbsent) {
		t.Errorf("an unknown segment: got %v", err)
	}
	late := serve(t, key, key, func(ctx context.Context, _ *search.Asked) (*search.Answer, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if _, err := late.Ask(t.Context(), &search.Asked{Patience: time.Millisecond}); err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Errorf("no time: got %v", err)
	}
}

func TestHandler(t *testing.T) {
	own, err := Parse("", key)
	if err != nil {
		t.Fatal(err)
	}
	h := own.Route(nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/search", "", http.StatusTeapot},
		{"GET", Path, "", http.StatusNotFound},
		{"POST", Path, "no JSON", http.StatusBadRequest},
		{"POST", Path, `{"Segments":["` + strings.Repeat("x", maxAsked) + `"]}`, http.StatusBadRequest},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Authorization", "Bearer "+key)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s %s with %d bytes: status %d, want %d", c.method, c.path, len(c.body), w.Code, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	l, err := Parse(" http://127.0.0.1:8081 https://two.example/ ", key)
	if err != nil || len(l.All) != 2 || l.All[0].Name() != "http://127.0.0.1:8081" || l.All[1].Name() != "https://two.example" {
		t.Errorf("%+v, %v", l.All, err)
	}
	for _, c := range []struct{ urls, key, want string }{
		{"", "short", "BUCKETSEARCH_LEAF_KEY has 5 characters"},
		{"http://a/", "", "BUCKETSEARCH_LEAF_KEY is not"},
		{"a.example", key, `"a.example" is not the URL of a server`},
		{"ftp://a/", key, `"ftp://a/" is not the URL of a server`},
		{"http://a/search", key, `"http://a/search" is not the URL of a server`},
	} {
		if _, err := Parse(c.urls, c.key); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: got %v, want %q", c.urls, c.key, err, c.want)
		}
	}
}
