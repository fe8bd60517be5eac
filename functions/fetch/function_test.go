package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

const pageWithLinks = `<title>T</title><nav><a href="/other">menu</a></nav><p>see <a rel=next href="next#x">the next</a> page<a href=shunned rel="ugc nofollow"></a><img src=i.png alt=i>`

func parsed(t *testing.T, url string) address.Address {
	t.Helper()
	a, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestStoredPage(t *testing.T) {
	const contentType = "text/html; charset=utf-8"
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Set-Cookie", "secret")
		w.Header().Set("Date", "today")
		w.Header().Set("ETag", `"e"`)
		w.Header().Set("Last-Modified", "then")
		w.Header().Set("X-Agent", r.UserAgent())
		_, _ = w.Write([]byte(pageWithLinks))
	}))
	b := w.batch("/dir/page")
	b.Targets[0].Collections, b.Targets[0].Weight = []string{"b", "c", "a"}, 7
	got := w.run(t, b)
	source, next, other, image := parsed(t, w.server.URL+"/dir/page"), parsed(t, w.server.URL+"/dir/next"), parsed(t, w.server.URL+"/other"), parsed(t, w.server.URL+"/dir/i.png")
	link := book.Link{Source: source.ID, Depth: 5, Collection: "b", Kind: book.Anchor, Region: book.Text}
	first, second, third := link, link, link
	first.Target, first.Place, first.Region, first.Anchor = other.URL, other.Place, book.Navigation, "menu"
	second.Target, second.Place, second.Rel, second.Anchor, second.Around = next.URL, next.Place, "next", "the next", "see page"
	third.Target, third.Place, third.Kind, third.Anchor, third.Around = image.URL, image.Place, book.Asset, "i", "see the next page"
	want := spool.Ledger{
		Batch: b.Version, Crawl: 2, Host: "h", Ended: start,
		Outcomes: []book.Outcome{{
			Version: b.Version, URL: source.URL, Place: source.Place, State: book.Stored, Status: 200,
			Depth: 4, Attempts: 1, Exponent: 3, Weight: 7, Time: start, Collections: []string{"b", "a", "c"},
			ETag: `"e"`, Modified: "then", Digest: pageDigest(document.Parse([]byte(pageWithLinks)), 0),
			Body: answer{body: []byte(pageWithLinks), header: http.Header{"Content-Type": {contentType}}}.sum(),
		}},
		Links:  []book.Link{first, second, third},
		Vitals: spool.Vitals{Worker: "w1", Bytes: int64(len(pageWithLinks))},
	}
	byTarget := cmpopts.SortSlices(func(a, b book.Link) bool { return a.Target < b.Target })
	if diff := cmp.Diff(want, got.Ledger, byTarget, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(spool.Ledger{}, "Pages", "Stored")); diff != "" {
		t.Error(diff)
	}
	if len(got.Pages) != 1 || got.Pages[0].Outcome != 0 {
		t.Fatalf("pages: %+v", got.Pages)
	}
	object, err := got.Pages[0].Run.Object()
	if err != nil {
		t.Fatal(err)
	}
	wantObject := webobject.Object{
		URL: source.URL, MIME: contentType, Data: []byte(pageWithLinks), Downloaded: start, Expires: start.Add(8 * 24 * time.Hour), Status: 200,
		Header: []webobject.Field{{Name: "Content-Length", Value: strconv.Itoa(len(pageWithLinks))}, {Name: "Content-Type", Value: contentType},
			{Name: "Date", Value: "today"}, {Name: "Etag", Value: `"e"`}, {Name: "Last-Modified", Value: "then"}, {Name: "X-Agent", Value: "bucketsearch-test"}},
		Address: netip.MustParseAddr("127.0.0.1"), Hash: sha256.Sum256([]byte(pageWithLinks)), Collections: []string{"b", "a", "c"}, Version: b.Version,
	}
	if diff := cmp.Diff(wantObject, object, cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestRedirectIsALink(t *testing.T) {
	w := newWorld(t, http.RedirectHandler("/new#x", http.StatusMovedPermanently))
	b := w.batch("/old")
	b.Targets[0].Hops, b.Targets[0].Weight = 2, 9
	got := w.run(t, b)
	source, to := parsed(t, w.server.URL+"/old"), parsed(t, w.server.URL+"/new")
	want := []book.Link{{Source: source.ID, Target: to.URL, Place: to.Place, Kind: book.Redirect, Region: book.Text, Depth: 4, Hops: 3, Weight: 9, Collection: "c"}}
	if diff := cmp.Diff(want, got.Ledger.Links); diff != "" {
		t.Error(diff)
	}
}

func TestNoFollowHeader(t *testing.T) {
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Robots-Tag", "nofollow")
		_, _ = w.Write([]byte(`<html><a href=x>x</a><img src=i alt=i>`))
	}))
	links := w.run(t, w.batch("/")).Ledger.Links
	if len(links) != 1 || links[0].Kind != book.Asset {
		t.Errorf("links: %+v", links)
	}
}

func TestPoliteness(t *testing.T) {
	var asked []string
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path) // requests do not overlap
		w.WriteHeader(http.StatusNotFound)
	}))
	b := w.batch("/1", "/2", "/3", "/4")
	b.NotBefore = start.Add(5 * time.Second)
	b.DelayMillis = 20_000
	got := w.run(t, b)
	failed, notAsked := end{book.Failed, "http 404"}, end{book.NotAsked, ""}
	if diff := cmp.Diff([]end{failed, failed, failed, notAsked}, ends(got)); diff != "" {
		t.Error(diff) // 5 s, 25 s and 45 s are earlier than 60 s minus the margin of 10 s
	}
	if diff := cmp.Diff([]time.Duration{5 * time.Second, 20 * time.Second, 20 * time.Second}, w.clock.slept); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/1", "/2", "/3"}, asked); diff != "" {
		t.Error(diff)
	}
	if want := start.Add(45 * time.Second); !got.Ledger.Ended.Equal(want) || got.Ledger.Vitals.Elapsed != 45*time.Second {
		t.Errorf("ended %s after %s, want %s", got.Ledger.Ended, got.Ledger.Vitals.Elapsed, want)
	}
}

func TestFullBatch(t *testing.T) {
	w := newWorld(t, respond(200, "text/plain", strings.Repeat("x", 100)))
	w.Limits.Batch = 150
	got := ends(w.run(t, w.batch("/1", "/2", "/3")))
	if diff := cmp.Diff([]end{{book.Stored, ""}, {book.Stored, ""}, {book.NotAsked, ""}}, got); diff != "" {
		t.Error(diff)
	}
}

// TestTimeRunsOut sends a request to a server that never answers, so that the time of the batch
// ends during the request. If the request ran for less than half of Limits.Request, the outcome
// must be "not asked". If it ran for longer, the outcome must be a timeout.
func TestTimeRunsOut(t *testing.T) {
	w := newWorld(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	w.Now = time.Now
	w.Limits.Margin = 5 * time.Second
	for name, c := range map[string]struct {
		request time.Duration
		want    end
	}{
		"early": {time.Minute, end{book.NotAsked, ""}},
		"late":  {1600 * time.Millisecond, end{book.Retry, "timeout"}},
	} {
		t.Run(name, func(t *testing.T) {
			w.Limits.Request = c.request
			b := w.batch("/")
			b.Version.Token += uint64(c.request)
			b.Deadline = time.Now().Add(w.Limits.Margin + 2*time.Second)
			got := w.run(t, b)
			if diff := cmp.Diff([]end{c.want}, ends(got)); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(got.Ledger.Outcomes[0].Detail, "context") {
				t.Errorf("the detail %q needs knowledge of Go", got.Ledger.Outcomes[0].Detail)
			}
		})
	}
}

func TestNothingToDo(t *testing.T) {
	var asked atomic.Int64
	w := newWorld(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	late := w.batch("/")
	late.Deadline = start
	if err := w.Run(t.Context(), late); err != nil {
		t.Error(err)
	}
	if _, err := w.bucket.Head(t.Context(), layout.SpoolKey(late.Storage, late.Version)); !errors.Is(err, blob.ErrAbsent) {
		t.Errorf("a late batch left an object: %v", err)
	}
	w.run(t, w.batch("/"))
	w.run(t, w.batch("/"))
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

// TestBucketFails lets a call of the bucket fail, before or after it took effect. Run must return
// an error, and succeed when it is called again.
func TestBucketFails(t *testing.T) {
	for _, op := range []faultblob.Op{faultblob.Head, faultblob.Create} {
		for _, fault := range []faultblob.Fault{faultblob.Before, faultblob.After} {
			t.Run(fmt.Sprintf("%s %s", op, fault), func(t *testing.T) {
				w := newWorld(t, respond(200, "text/html", "<p>"))
				failures := 1
				w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
					if c.Op != op || failures == 0 {
						return faultblob.None
					}
					failures--
					return fault
				})
				b := w.batch("/")
				if err := w.Run(t.Context(), b); !errors.Is(err, blob.ErrRetryable) {
					t.Errorf("error is %v", err)
				}
				if diff := cmp.Diff([]end{{book.Stored, ""}}, ends(w.run(t, b))); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestSomeoneElse lets another process put the spool object while the batch is fetched. Run must
// succeed and leave that object as it is.
func TestSomeoneElse(t *testing.T) {
	var w *world
	key := ""
	w = newWorld(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if err := w.bucket.Create(context.Background(), key, []byte("theirs")); err != nil {
			panic(err)
		}
	}))
	b := w.batch("/")
	key = layout.SpoolKey(b.Storage, b.Version)
	if err := w.Run(t.Context(), b); err != nil {
		t.Error(err)
	}
	if content, err := w.bucket.Get(t.Context(), key, blob.Range{}); err != nil || string(content) != "theirs" {
		t.Errorf("the object is %q, %v", content, err)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	b := w.batch("/1", "/2")
	if err := w.Run(ctx, b); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if _, err := w.bucket.Head(t.Context(), layout.SpoolKey(b.Storage, b.Version)); !errors.Is(err, blob.ErrAbsent) {
		t.Errorf("an interrupted batch left an object: %v", err)
	}
}

func TestHandle(t *testing.T) {
	w := newWorld(t, respond(200, "text/html", "<p>"))
	body := func(change func(b *batch.Batch)) string {
		b := w.batch("/")
		change(&b)
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	same := func(*batch.Batch) {}
	response, err := w.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "no JSON", Body: "{"},
		{MessageId: "no address", Body: body(func(b *batch.Batch) { b.Targets[0].URL, b.Version.Token = "mailto:a", 99 })},
		{MessageId: "good", Body: body(same)},
		{MessageId: "again", Body: body(same)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var failed []string
	for _, f := range response.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	if want := []string{"no JSON", "no address"}; !slices.Equal(want, failed) {
		t.Errorf("failed: %q, want %q", failed, want)
	}
}
