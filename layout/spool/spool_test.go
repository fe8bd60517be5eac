package spool

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

var when = time.Date(2026, 11, 21, 22, 51, 7, 123e6, time.UTC)

// wholeBytes makes go-cmp compare bodies as a whole, not byte by byte.
var wholeBytes = cmp.Comparer(bytes.Equal)

// batch generates the spool of one batch, in which two of three URLs have stored pages.
func batch(seed uint64, urls, bodySize int) Spool {
	rng := rand.New(rand.NewPCG(seed, seed))
	s := Spool{Ledger: Ledger{
		Batch: layout.Version{Epoch: 2, Token: seed}, Crawl: 5, Host: "a.example:8080", Ended: when.Add(time.Minute),
		Rest: when.Add(time.Hour), Slow: 7*time.Second + 89, Failures: 65535,
		Robots: []Robots{
			{Origin: "https://a.example:8080", Status: 200, Body: []byte("User-agent: *\nDisallow: /x\xff\n"), Fetched: when},
			{Origin: "http://a.example:8080", Status: 404, Fetched: when},
			{Origin: "https://www.a.example", Status: 200, Body: []byte("# nothing"), Fetched: when},
		},
		Vitals: Vitals{Worker: "one", Elapsed: 1234567 * time.Microsecond, Bytes: 987654},
	}}
	l := &s.Ledger
	for i := range urls {
		url := fmt.Sprintf("https://a.example:8080/%x", rng.Uint64())
		id := layout.IdentityOf(url)
		o := book.Outcome{Version: l.Batch, URL: url, Place: layout.PlaceOf("a.example", id), State: book.Stored, Status: 200, Attempts: 1, Time: when}
		if i%3 == 2 {
			o.State, o.Reason, o.Status = book.Failed, "status", 404
		}
		l.Outcomes = append(l.Outcomes, o)
		for n := range 5 {
			to := l.Outcomes[rng.IntN(i+1)]
			l.Links = append(l.Links, book.Link{Source: id, Target: to.URL, Place: to.Place, Kind: book.Anchor, Region: book.Text, Anchor: fmt.Sprint(n)})
		}
	}
	for i := range urls {
		if o := l.Outcomes[i]; o.State == book.Stored {
			body := make([]byte, 1+rng.IntN(bodySize))
			for k := range body {
				body[k] = byte(rng.Uint32())
			}
			s.Pages = append(s.Pages, Page{Outcome: i, Run: webobject.Run{URL: o.URL, Compressed: body, Size: int64(4 * len(body)), CRC: rng.Uint32()}})
			l.Pages++
			l.Stored += int64(4 * len(body))
		}
	}
	return s
}

func mustEncode(t testing.TB, s Spool) []byte {
	t.Helper()
	content, err := Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// sorted returns the spool with its outcomes in the order that Read returns (that of a book), and
// with its links in some fixed order.
func sorted(s Spool) Spool {
	numbers := sortedNumbers(s.Ledger.Outcomes)
	s.Ledger.Outcomes = slices.SortedFunc(slices.Values(s.Ledger.Outcomes), book.Outcome.Compare)
	s.Ledger.Links = slices.SortedFunc(slices.Values(s.Ledger.Links), func(a, b book.Link) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	s.Pages = slices.Clone(s.Pages)
	for i, p := range s.Pages {
		s.Pages[i].Outcome = numbers[p.Outcome]
	}
	return s
}

func TestRoundTrip(t *testing.T) {
	for _, urls := range []int{0, 1, 3, 100} {
		want := batch(uint64(urls), urls, 3000)
		if urls == 0 {
			want.Ledger.Robots = nil
		}
		given := batch(uint64(urls), urls, 3000)
		content := mustEncode(t, want)
		if diff := cmp.Diff(given.Pages, want.Pages, wholeBytes); diff != "" {
			t.Errorf("%d URLs: Encode has changed its caller's spool (-want +got)\n%s", urls, diff)
		}
		got, err := decode(content)
		if err != nil {
			t.Fatalf("%d URLs: %v", urls, err)
		}
		if diff := cmp.Diff(sorted(want), sorted(got), wholeBytes); diff != "" {
			t.Errorf("%d URLs: (-want +got)\n%s", urls, diff)
		}
		for i, p := range got.Pages {
			if url := got.Ledger.Outcomes[p.Outcome].URL; url != p.Run.URL || url != want.Pages[i].Run.URL {
				t.Errorf("page %d: run of %s, outcome of %s, want %s", i, p.Run.URL, url, want.Pages[i].Run.URL)
			}
		}
		if !bytes.Equal(content, mustEncode(t, got)) {
			t.Errorf("%d URLs: encoding again gives other bytes", urls)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*Spool)
		want string
	}{
		"no outcome":       {func(s *Spool) { s.Pages[0].Outcome = 6 }, "page 0: outcome 6 of 6"},
		"negative outcome": {func(s *Spool) { s.Pages[0].Outcome = -1 }, "page 0: outcome -1 of 6"},
		"failed page":      {func(s *Spool) { s.Ledger.Outcomes[0].State = book.Failed }, "is failed"},
		"other URL":        {func(s *Spool) { s.Pages[0].Run.URL = "http://b/" }, "its run is of http://b/"},
		"twice":            {func(s *Spool) { s.Pages[1] = s.Pages[0] }, "has a page already"},
		"no page":          {func(s *Spool) { s.Pages = s.Pages[1:] }, "is stored, but has no page"},
		"size":             {func(s *Spool) { s.Pages[0].Run.Size = -1 }, "size -1"},
		"no bytes":         {func(s *Spool) { s.Pages[0].Run.Compressed = nil }, "is empty"},
		"place":            {func(s *Spool) { s.Ledger.Links[0].Place++ }, "does not end with"},
		"robots":           {func(s *Spool) { s.Ledger.Robots[0].Body = make([]byte, MaxBody+1) }, "512001 bytes, at most 512000"},
		"many robots":      {func(s *Spool) { s.Ledger.Robots = make([]Robots, MaxRobots+1) }, "101 robots.txt answers"},
		"many pages":       {func(s *Spool) { s.Pages = make([]Page, MaxPages+1) }, "1001 pages"},
		"host":             {func(s *Spool) { s.Ledger.Host = strings.Repeat("h", MaxName+1) }, "8193 bytes"},
	} {
		s := batch(1, 6, 100)
		tc.edit(&s)
		_, err := Encode(s)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), s.Ledger.Batch.String()) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

func BenchmarkLedger(b *testing.B) {
	s := batch(3, 100, 10_000)
	content := mustEncode(b, s)
	tail, err := cutTail(content)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := decodeTail(tail); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*100/b.Elapsed().Seconds(), "URLs/s")
	b.ReportMetric(float64(len(tail))/100, "ledger-bytes/URL")
}

func BenchmarkEncode(b *testing.B) {
	s := batch(3, 100, 10_000)
	for b.Loop() {
		mustEncode(b, s)
	}
	b.ReportMetric(float64(b.N)*100/b.Elapsed().Seconds(), "URLs/s")
}
