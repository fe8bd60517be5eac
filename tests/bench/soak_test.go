package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkSoak crawls, indexes and searches at the same time for the duration $SOAK, such as
// 30m. It draws the memory of the program, its number of documents and the like over time into
// the file $SOAK_PICTURE, an SVG. If $SOAK is empty, it does nothing.
func BenchmarkSoak(b *testing.B) {
	if os.Getenv("SOAK") == "" {
		return
	}
	length, err := time.ParseDuration(os.Getenv("SOAK"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		samples := soak(b, length)
		report(b, samples)
		if file := os.Getenv("SOAK_PICTURE"); file != "" {
			if err := os.WriteFile(file, drawSoak(samples), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// soakPeriod is the time between two samples.
const soakPeriod = 5 * time.Second

// vitals is a sample of figures of the running program at one moment.
type vitals struct {
	at          time.Duration
	resident    float64 // memory of the whole process tree, in MiB
	goroutines  float64
	descriptors float64
	documents   float64 // number of searchable documents
	slowest     float64 // slowest search since the last sample, in ms
}

func soak(b *testing.B, length time.Duration) []vitals {
	b.Helper()
	seeds := endless(b, 10)
	data := filepath.Join(b.TempDir(), "data")
	args := append([]string{"up", "--listen", "127.0.0.1:0", "--data", data, "--delay", "800ms", "--allow-private"}, seeds...)
	cmd := exec.Command(program, args...)
	cmd.Stderr = io.Discard
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	home := regexp.MustCompile(`http://\S+`).FindString(said)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	began := time.Now()
	ctx, cancel := context.WithTimeout(b.Context(), length)
	defer cancel()
	var samples []vitals
	for ctx.Err() == nil {
		v := vitals{slowest: searchFor(ctx, b, home, soakPeriod)}
		v.at = time.Since(began)
		v.resident = float64(resident(cmd.Process.Pid)) / (1 << 20)
		v.descriptors = descriptors(cmd.Process.Pid)
		metrics := read(b, home+"metrics")
		v.goroutines = metric(b, metrics, "go_goroutines")
		v.documents = metric(b, metrics, "bucketsearch_documents")
		samples = append(samples, v)
	}
	return samples
}

// searchFor sends ten search queries a second for the given time, and returns the time of the
// slowest answer in ms.
func searchFor(ctx context.Context, b *testing.B, home string, d time.Duration) (slowest float64) {
	b.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for i := range int(d / (100 * time.Millisecond)) {
		select {
		case <-ctx.Done():
			return slowest
		case <-ticker.C:
		}
		began := time.Now()
		read(b, home+"search?q="+url.QueryEscape(soakWord(uint64(i))+" "+soakWord(uint64(i*i+7))))
		slowest = max(slowest, float64(time.Since(began).Microseconds())/1000)
	}
	return slowest
}

func read(b *testing.B, address string) string {
	b.Helper()
	response, err := http.Get(address)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s %v", address, response.Status, err)
	}
	return string(content)
}

func metric(b *testing.B, metrics, name string) float64 {
	b.Helper()
	found := regexp.MustCompile(`(?m)^` + name + `(?:\{[^}]*\})? (\S+)$`).FindStringSubmatch(metrics)
	if found == nil {
		b.Fatalf("no metric %s in:\n%s", name, metrics)
	}
	value, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		b.Fatal(err)
	}
	return value
}

func descriptors(pid int) float64 {
	open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return float64(len(open))
}

// report reports the medians of all figures in the second quarter of the run (early) and in the
// last one (late), so that growth is seen. In the second quarter, caches are warm and garbage
// has been collected already.
func report(b *testing.B, samples []vitals) {
	quarter := len(samples) / 4
	if quarter == 0 {
		b.Fatal("too short: nothing can be compared")
	}
	for name, of := range soakLines {
		early, late := median(samples[quarter:2*quarter], of), median(samples[len(samples)-quarter:], of)
		b.ReportMetric(early, name+"-early")
		b.ReportMetric(late, name+"-late")
	}
}

func median(samples []vitals, of func(vitals) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// endless serves hosts whose pages link to new pages without end, and returns their addresses.
func endless(b *testing.B, names int) (seeds []string) {
	b.Helper()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.ParseUint(strings.TrimPrefix(r.URL.Path, "/"), 10, 62)
		if err != nil && r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!doctype html><title>%s %s</title><main><p>", soakWord(n), soakWord(n*7+1))
		for i := range uint64(300) {
			fmt.Fprint(w, soakWord(n*131+i*i), " ")
		}
		fmt.Fprintf(w, "<p><a href=/%d>one</a> <a href=/%d>two</a></main>", 2*n+1, 2*n+2)
	})
	for i := range names {
		listener := listenOn(b, fmt.Sprintf("127.0.0.%d:0", i+1))
		server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(listener) }()
		b.Cleanup(func() { _ = server.Close() })
		seeds = append(seeds, "http://"+listener.Addr().String()+"/")
	}
	return seeds
}

// soakWord returns one of 5,000 words for a random number; some words come far more often than
// others.
func soakWord(n uint64) string {
	n = n * 0x9E3779B97F4A7C15 >> 40
	n = n % 5000 * (n % 4999) / 5000
	const letters = "bdfgklmnprstvz"
	const vowels = "aeiou"
	var word []byte
	for n++; n > 0; n /= 70 {
		word = append(word, letters[n%14], vowels[n/14%5])
	}
	return string(word)
}
