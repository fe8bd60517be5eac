package system

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// TestLive crawls a site that holds back its fourth answer. Before it, the site has answered the requests
// for robots.txt, the seed, and the first of the two pages in the second batch. Until the site goes on,
// Progress must count this first page, too, and all commands must name the host and the batch.
func TestLive(t *testing.T) {
	t.Parallel()
	web := newSite(t, 3)
	stopped, goOn := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(goOn) })
	t.Cleanup(release)
	web.gate = func(n int) {
		if n == 4 {
			close(stopped)
			<-goOn
		}
	}
	o := options(t)
	s := open(t, o)
	begin(t, s, Plan{Seeds: seeds(web.URL + "/")})
	<-stopped
	host := strings.TrimPrefix(web.URL, "http://")
	p, err := s.Progress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.Stored != 1 || p.Arrived != 1 || p.Leased != 2 || p.Turn.Host != host || !p.Turn.At.IsZero() {
		t.Errorf("progress %+v, want a page that is stored and one that has arrived, and a request that is under way", p)
	}
	a, err := Attach(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	status, err := ReadStatus(t.Context(), a.Bucket, countblob.Counts{}, "")
	if err == nil {
		err = a.AddLive(t.Context(), &status)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := []FetchingHost{{Host: host, URLs: 2}}
	if diff := cmp.Diff(want, status.Fetching, cmpopts.IgnoreFields(FetchingHost{}, "Until")); diff != "" || status.Next != nil || status.Processes != 1 {
		t.Errorf("%d processes, fetching, and next %v (-want +got):\n%s", status.Processes, status.Next, diff)
	}
	page, err := address.Parse(web.URL + "/2.html")
	if err != nil {
		t.Fatal(err)
	}
	text, err := a.HostWaits(t.Context(), 0, page)
	if want := "2 URLs of " + host + " are being fetched, leased until "; err != nil || !strings.HasPrefix(text, want) {
		t.Errorf("the page waits for %q, %v, want %q …", text, err, want)
	}
	release()
	wait(t, s, func(Progress, error) {})
	if got := s.Crawling(); got != "" {
		t.Errorf("after the crawl its state is %q", got)
	}
	status = Status{}
	if err := a.AddLive(t.Context(), &status); err != nil || status.Fetching != nil || status.Next != nil {
		t.Errorf("after the crawl: fetching %v, next %v, %v", status.Fetching, status.Next, err)
	}
}
