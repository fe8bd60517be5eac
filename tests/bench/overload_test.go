package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Numbers of clients in BenchmarkOverload, and its duration. Ten hostile connections share an IP address,
// and each honest client has its own (see the header X-Forwarded-For in ask).
const (
	askers      = 400 // connections that ask one hostile query after the other
	slowReaders = 100 // connections that ask for long answers and read a byte a second
	honest      = 20  // clients that search in turn
	underAttack = 30 * time.Second
)

// BenchmarkOverload measures how fast ten searches a second are answered, sent by honest clients in turn,
// while a crawl of ten endless sites runs. It measures this twice: without an attack ("calm"), and while
// other clients send hostile queries and read answers slowly ("attacked").
func BenchmarkOverload(b *testing.B) {
	data := filepath.Join(b.TempDir(), "data")
	crawl(b, data, site(b))
	for _, attacked := range []bool{false, true} {
		name := "calm"
		if attacked {
			name = "attacked"
		}
		b.Run(name, func(b *testing.B) {
			seeds := endless(b, 10)
			home, pid, stop := upWith(b, append([]string{"--data", data, "--proxy", "127.0.0.1", "--delay", "100ms", "--allow-private"}, seeds...)...)
			defer stop()
			for b.Loop() {
				overload(b, home, pid, attacked)
			}
		})
	}
}

func overload(b *testing.B, home string, pid int, attacked bool) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), underAttack)
	defer cancel()
	var hostility attack
	if attacked {
		hostility.begin(ctx, home)
	}
	began, done := time.Now(), make(chan struct{})
	memory := make(chan []sample)
	go func() { memory <- watch(pid, began, done) }()
	var took []time.Duration
	refused := 0
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		<-ticker.C
		asked := time.Now()
		code, err := ask(context.WithoutCancel(ctx), http.DefaultClient, home+"search?q="+url.QueryEscape(queries[n%len(queries)]), fmt.Sprint("203.0.113.", n%honest))
		switch {
		case err == nil && code == http.StatusTooManyRequests:
			refused++
		case err == nil && code == http.StatusOK:
			took = append(took, time.Since(asked))
		default:
			b.Errorf("search %d of an honest client: %d %v", n, code, err)
		}
	}
	hostility.Wait()
	close(done)
	samples := <-memory
	slices.Sort(took)
	b.ReportMetric(float64(len(took)), "honest-answered")
	b.ReportMetric(float64(refused), "honest-refused")
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-p50")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "ms-p99")
	b.ReportMetric(peakOf(samples[:len(samples)/2]), "early-peak-MiB")
	b.ReportMetric(peakOf(samples[len(samples)/2:]), "late-peak-MiB")
	if attacked {
		b.ReportMetric(float64(hostility.answered.Load()), "hostile-answered")
		b.ReportMetric(float64(hostility.refused.Load()), "hostile-refused")
		b.ReportMetric(float64(hostility.failed.Load()), "failed")
	}
}

// peakOf returns the maximum memory of samples in MiB.
func peakOf(samples []sample) float64 {
	return float64(slices.MaxFunc(samples, func(a, b sample) int { return int(a.bytes - b.bytes) }).bytes) / (1 << 20)
}

// attack counts the hostile queries by what became of them: answered (status 200), refused (status 429),
// or failed (any other status, or no answer).
type attack struct {
	sync.WaitGroup
	answered, refused, failed atomic.Int64
}

// hostile lists the paths of hostile requests: queries that are as expensive as the limits on queries
// allow, such as those with many prefixes, and a few other pages.
var hostile = func() (paths []string) {
	var prefixes, edits, words []string
	for i := range 64 {
		prefixes = append(prefixes, string(rune('a'+i%26))+string(rune('a'+i/3))+"*")
		word := strings.Fields(queries[i%len(queries)])[0]
		words, edits = append(words, fmt.Sprint(word)), append(edits, word[:3]+"~2")
	}
	for _, q := range []string{
		"a* b* c* d* e* f* g* h*", strings.Join(prefixes, " "), strings.Join(edits, " "), strings.Join(words, " "),
		`"the of to and in for with is"~30`, "(" + strings.Join(words, " OR ") + ")", strings.Repeat("(", 300) + "a OR b" + strings.Repeat(")", 300),
	} {
		q = url.QueryEscape(q)
		paths = append(paths, "search?n=100&q="+q, "v1/search?from=9900&n=100&explain=score&facet=site&facet=lang&q="+q, "v1/search?sort=date&across=de,fr&q="+q)
	}
	return append(paths, "suggest?q=a", "v1/facets?q=the", "")
}()

// begin attacks the program until ctx ends.
func (a *attack) begin(ctx context.Context, home string) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: askers}}
	for i := range askers + slowReaders {
		from := fmt.Sprintf("198.51.100.%d", i/10)
		if i < askers {
			a.Go(func() { a.ask(ctx, client, home, from, i) })
		} else {
			a.Go(func() { readSlowly(ctx, home, from) })
		}
	}
}

// ask sends hostile requests one after another until ctx ends, beginning with hostile[n]. After a refusal
// it waits for only 200 ms. The parameter from is the IP address of the client.
func (a *attack) ask(ctx context.Context, client *http.Client, home, from string, n int) {
	for ; ctx.Err() == nil; n++ {
		switch code, err := ask(context.WithoutCancel(ctx), client, home+hostile[n%len(hostile)], from); {
		case err == nil && code == http.StatusTooManyRequests:
			a.refused.Add(1)
			rest(ctx, 200*time.Millisecond)
		case err == nil && code == http.StatusOK:
			a.answered.Add(1)
		default:
			a.failed.Add(1)
		}
	}
}

// readSlowly asks for long answers by one connection after the other, and reads a byte a second.
func readSlowly(ctx context.Context, home, from string) {
	host := strings.Trim(strings.TrimPrefix(home, "http://"), "/")
	for ctx.Err() == nil {
		c, err := net.Dial("tcp", host)
		if err != nil {
			rest(ctx, time.Second)
			continue
		}
		_, err = io.WriteString(c, strings.Repeat("GET /search?q=the&n=100 HTTP/1.1\r\nHost: "+host+"\r\nX-Forwarded-For: "+from+"\r\n\r\n", 50))
		for one := make([]byte, 1); err == nil && ctx.Err() == nil; rest(ctx, time.Second) {
			_, err = c.Read(one)
		}
		_ = c.Close()
	}
}

// ask requests an address and reads the answer. It does so as a proxy would for a client with the IP
// address from: it sends this IP address in the header X-Forwarded-For.
func ask(ctx context.Context, client *http.Client, address, from string) (code int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("X-Forwarded-For", from)
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

// rest waits, but not longer than until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
