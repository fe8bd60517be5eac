package bench

import (
	"compress/gzip"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/tests/browser"
)

// typed are the queries that BenchmarkTyping types; Python's manual has an answer to each.
var typed = strings.Fields("argparse asyncio bisect bytearray calendar closure codecs comprehension contextlib coroutine counter csv ctypes " +
	"dataclass datetime decimal decorator descriptor dictionary enum exception fraction functools generator glob hashlib heapq import " +
	"inheritance iterator itertools json lambda logging memoryview metaclass multiprocessing namedtuple operator pathlib pickle property " +
	"queue random regex semaphore slice socket sqlite subprocess tempfile threading tuple unicode unittest urllib")

// pressing is the time between two keys of a person who types fast.
const pressing = 100 * time.Millisecond

// BenchmarkTyping types queries into the search page and into the box of another site, in Chromium. It measures
// the time from the last key of a query to the frame that shows its results. BenchmarkTyping/pages measures what
// the pages weigh, and how long their first byte takes.
func BenchmarkTyping(b *testing.B) {
	data := filepath.Join(b.TempDir(), "data")
	manual := site(b) + "python/"
	crawl(b, data, manual, "--scope", "prefix")
	home, stop := up(b, data)
	defer stop()
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>Another site</title><script src="%ssearch.js?language=en" defer></script>`, home)
	}))
	defer stranger.Close()
	for _, c := range []struct{ name, address, box, shows string }{
		{"page", home, "document.getElementById('q')", "document.title.startsWith(QUERY + ' – ') && document.querySelector('.hits h2')"},
		{"box", stranger.URL + "/", root + ".querySelector('input')", "[..." + root + ".querySelectorAll('[role=option]')].at(-1)?.href?.endsWith('search?q=' + QUERY)"},
	} {
		b.Run(c.name, func(b *testing.B) {
			page := browser.Open(b, 1000, 800)
			page.Go(c.address)
			page.Await("document.getElementById('q') ?? document.querySelector('bucket-search')?.shadowRoot")
			page.Evaluate("addEventListener('keydown', (e) => { window.pressed = e.timeStamp }, true)")
			for b.Loop() {
				var took []time.Duration
				for _, query := range typed {
					page.Evaluate(c.box + ".value = ''; " + c.box + ".focus()")
					for _, key := range query {
						time.Sleep(pressing)
						page.Press(string(key))
					}
					shown := strings.ReplaceAll(c.shows, "QUERY", strconv.Quote(query))
					millis, err := strconv.ParseFloat(page.Evaluate(strings.Replace(untilShown, "SHOWN", shown, 1)), 64)
					if err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Duration(millis*float64(time.Millisecond)))
				}
				reportTimes(b, "ms", took)
			}
		})
	}
	for _, c := range []struct{ name, path string }{
		{"home", ""}, {"results", "search?q=regular+expression"}, {"copy", "copy?q=regular&url=" + url.QueryEscape(manual+"library/re.html")},
	} {
		b.Run("pages/"+c.name, func(b *testing.B) {
			for b.Loop() {
				var took []time.Duration
				for range 200 {
					_, _, first := load(b, home+c.path)
					took = append(took, first)
				}
				reportTimes(b, "first-byte-ms", took)
				text, size, _ := load(b, home+c.path)
				all := size
				for _, m := range parts.FindAllStringSubmatch(text, -1) {
					_, size, _ := load(b, strings.TrimSuffix(home, "/")+html.UnescapeString(m[1]))
					all += size
				}
				b.ReportMetric(float64(size)/1000, "KB")
				b.ReportMetric(float64(all)/1000, "KB-with-parts")
			}
		})
	}
}

// root is an expression of JavaScript for the content of the box on another site.
const root = "document.querySelector('bucket-search').shadowRoot"

// untilShown is an expression of JavaScript that waits for the frame in which SHOWN is true, and returns the
// milliseconds from the last key to this frame.
const untilShown = `new Promise((done) => {
	const look = (now) => { if (SHOWN) done(now - window.pressed); else requestAnimationFrame(look); };
	requestAnimationFrame(look);
})`

// parts matches the addresses of what a browser loads with a page: style, script, and the frame of a stored copy.
var parts = regexp.MustCompile(`(?:src|href)="(/(?:style\.css|pages\.js|copy/frame)[^"]*)"`)

// load loads a page as a browser does. It returns its text, the bytes of its compressed body, and the time
// until the first byte of the answer.
func load(b *testing.B, address string) (text string, size int, first time.Duration) {
	b.Helper()
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		b.Fatal(err)
	}
	var began time.Time
	trace := &httptrace.ClientTrace{GotFirstResponseByte: func() { first = time.Since(began) }}
	request = request.WithContext(httptrace.WithClientTrace(b.Context(), trace))
	request.Header.Set("Accept-Encoding", "gzip")
	began = time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	counted := &countedReader{Reader: response.Body}
	var content io.Reader = counted
	if response.Header.Get("Content-Encoding") == "gzip" {
		if content, err = gzip.NewReader(counted); err != nil {
			b.Fatal(err)
		}
	}
	body, err := io.ReadAll(content)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s %v", address, response.Status, err)
	}
	return string(body), counted.size, first
}

// countedReader counts the bytes that are read.
type countedReader struct {
	io.Reader
	size int
}

func (r *countedReader) Read(p []byte) (n int, err error) {
	n, err = r.Reader.Read(p)
	r.size += n
	return n, err
}

// reportTimes reports the median and the 99th percentile of times.
func reportTimes(b *testing.B, unit string, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1000, unit+"-p50")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1000, unit+"-p99")
}
