package bench

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"
)

// queries are the search queries of BenchmarkServe, of two or three words each.
var queries = []string{
	"connection pool", "foreign key constraint", "list comprehension", "template filter", "model form",
	"signal slot", "window function", "index scan", "string format", "date time zone",
	"layout widget", "thread pool", "database migration", "transaction isolation level", "regular expression match",
	"file dialog", "user authentication", "class method", "json parse", "network request",
}

// BenchmarkServe measures search queries: it starts the program on a bucket with the whole
// site, and sends the queries to its search page.
func BenchmarkServe(b *testing.B) {
	data := filepath.Join(b.TempDir(), "data")
	crawl(b, data, site(b))
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			began := time.Now()
			_, stop := up(b, data)
			b.ReportMetric(time.Since(began).Seconds(), "s-to-first-answer")
			stop()
		}
	})
	b.Run("query", func(b *testing.B) {
		home, stop := up(b, data)
		defer stop()
		for b.Loop() {
			var took []time.Duration
			for range 5 {
				for _, q := range queries {
					began := time.Now()
					get(b, home+"search?q="+url.QueryEscape(q))
					took = append(took, time.Since(began))
				}
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-p50")
			b.ReportMetric(took[len(took)*95/100].Seconds()*1000, "ms-p95")
		}
	})
}

// up starts the program, waits until its search page has answered a search, and returns the
// address of the page.
func up(b *testing.B, data string) (home string, stop func()) {
	b.Helper()
	home, _, stop = upWith(b, "--data", data)
	return home, stop
}

// upWith is like up with other arguments of the command up. It also returns the number of the process.
func upWith(b *testing.B, args ...string) (home string, pid int, stop func()) {
	b.Helper()
	cmd := exec.Command(program, append([]string{"up", "--listen", "127.0.0.1:0"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stderr = io.Discard
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for home == "" && lines.Scan() {
		home = regexp.MustCompile(`http://\S+/`).FindString(lines.Text())
	}
	if home == "" {
		b.Fatal("the program named no search page")
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	get(b, home+"search?q=index")
	return home, cmd.Process.Pid, func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
}

func get(b *testing.B, address string) {
	b.Helper()
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Fatal(fmt.Errorf("%s: %s %w\n%s", address, response.Status, err, body))
	}
}
