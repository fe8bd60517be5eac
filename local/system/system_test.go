package system

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/local/datadir"
	"github.com/bucketsearch/bucketsearch/strategy/account"
)

func TestCrawlGoesOn(t *testing.T) {
	t.Parallel()
	web, o := newSite(t, 30), options(t)
	plan := Plan{Seeds: seeds(web.URL + "/"), MaxPages: 10}
	s := open(t, o)
	first := crawl(t, s, plan)
	if first.New != 10 || first.Stored != 10 || first.Documents != 10 || first.Pending == 0 {
		t.Errorf("first: %+v, want the 10 pages that it may have, and what waits", first)
	}
	requests := s.Requests()
	closeSystem(t, s)

	plan.MaxPages = 0
	s = open(t, o)
	second := crawl(t, s, plan)
	if second.New != 20 || second.Stored != 30 || second.Documents != 30 || second.Pending != 0 {
		t.Errorf("second: %+v, want the other 20 pages", second)
	}
	if second.Requests.Put <= requests.Put {
		t.Errorf("second: %d PUTs, the first alone had %d", second.Requests.Put, requests.Put)
	}
	mustVerify(t, s.Bucket)
	for path, n := range web.asked {
		if n > 1 && path != "/robots.txt" {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	closeSystem(t, s)
	kept, err := datadir.ReadRequests(o.Data)
	if err != nil || kept.Put < second.Requests.Put {
		t.Errorf("kept %+v, %v; want all requests", kept, err)
	}
}

// TestInterrupted stops the system in the middle of a batch, whose pages are fetched with a delay in
// between. The pages that were fetched before must be stored, and not be requested again.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	web, o := newSite(t, 30), options(t)
	ctx, interrupt := context.WithCancel(t.Context())
	web.gate = func(n int) {
		if n == 6 {
			interrupt()
		}
	}
	s := open(t, o)
	if err := s.Plan(ctx, Plan{Seeds: seeds(web.URL + "/"), Delay: 50 * time.Millisecond, HostConnections: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(ctx, false, func(Progress, error) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	closeSystem(t, s)

	s = open(t, o)
	if got := crawl(t, s, Plan{Seeds: seeds(web.URL + "/")}); got.Stored != 30 {
		t.Errorf("stored %d pages, want 30", got.Stored)
	}
	mustVerify(t, s.Bucket)
	for path, n := range web.asked {
		if n > 1 && path != "/robots.txt" {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
}

func TestFates(t *testing.T) {
	t.Parallel()
	web := newSite(t, 1)
	mux := http.NewServeMux()
	mux.Handle("/near", http.RedirectHandler("/page", http.StatusFound))
	mux.Handle("/far", http.RedirectHandler("/farther", http.StatusFound))
	mux.Handle("/farther", http.RedirectHandler(web.URL+"/", http.StatusFound))
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>Here</title><p>It is here."))
	})
	redirecting := httptest.NewServer(mux)
	defer redirecting.Close()
	here := strings.Replace(redirecting.URL, "127.0.0.1", "localhost", 1) // another host than the one of web

	s := open(t, options(t))
	summary := crawl(t, s, Plan{Seeds: seeds(here+"/near", here+"/far", here+"/none")})
	type fate struct {
		State  account.State
		Reason string
		Led    string
	}
	var got []fate
	for _, f := range summary.Seeds {
		led := ""
		if f.Redirected() {
			led = f.Final.Address.URL
		}
		got = append(got, fate{f.Final.State, f.Final.Reason, led})
	}
	want := []fate{
		{account.Stored, "", here + "/page"},
		{account.Skipped, "out of scope", web.URL + "/"},
		{account.Failed, "http 404", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fates (-want +got):\n%s", diff)
	}
	if detail := summary.Seeds[2].Final.Final.Detail; detail != "Not Found" {
		t.Errorf("detail %q, want why", detail)
	}
	if summary.New != 1 {
		t.Errorf("%d new pages, want 1", summary.New)
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	o := options(t)
	if _, err := Attach(t.Context(), o); !errors.Is(err, ErrEmpty) {
		t.Errorf("new directory: %v, want %v", err, ErrEmpty)
	}
	web := newSite(t, 3)
	s := open(t, o)
	crawl(t, s, Plan{Seeds: seeds(web.URL + "/")})
	read := func(running bool) {
		t.Helper()
		a, err := Attach(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		status, err := ReadStatus(t.Context(), a.Bucket, countblob.Counts{}, "")
		if err != nil || status.Stored != 3 {
			t.Errorf("status %+v, %v", status, err)
		}
		if (a.Redis != nil) != running {
			t.Errorf("redis %v, want one: %v", a.Redis, running)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	read(true)
	closeSystem(t, s)
	read(false)
	if _, err := datadir.ReadRunning(o.Data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after closing: %v", err)
	}
}

func TestOpenInUse(t *testing.T) {
	t.Parallel()
	o := options(t)
	s := open(t, o)
	if err := s.Publish(""); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), o); !errors.Is(err, datadir.ErrInUse) {
		t.Errorf("got %v, want %v", err, datadir.ErrInUse)
	}
}
