package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// BenchmarkCrawl crawls the whole site into an empty bucket. For comparison, wget and colly
// download the site; they index nothing. So the figures of-wget and of-colly, which compare
// bucketsearch with them, cover only the time until the last page is packed, without the indexing
// after it. The figures with "stage" in their names cover the same time.
func BenchmarkCrawl(b *testing.B) {
	peers := make(map[string]float64) // pages per second of each peer
	b.Run("wget", func(b *testing.B) {
		url := site(b)
		for b.Loop() {
			broken := func(err error) bool { // accepts errors about links to pages that the site lacks
				exit, is := err.(*exec.ExitError)
				return is && (exit.ExitCode() == 8 || exit.ExitCode() == 4)
			}
			u := measure(b, broken, "wget", "-r", "-l", "inf", "-nv", "-A", "html", url)
			pages := bytes.Count([]byte(u.out), []byte("-> \""))
			u.report(b, pages)
			peers["wget"] = u.rate(pages)
		}
		b.ReportMetric(counts(b, url).kilobytes(), "KB/page")
	})
	b.Run("colly", func(b *testing.B) {
		url := site(b)
		for b.Loop() {
			u := measure(b, nil, colly, url)
			pages := number(b, u.out, `(\d+) pages`)
			u.report(b, pages)
			peers["colly"] = u.rate(pages)
		}
	})
	b.Run("bucketsearch", func(b *testing.B) {
		url := site(b)
		for b.Loop() {
			data := filepath.Join(b.TempDir(), "data")
			u := crawl(b, data, url)
			pages := number(b, u.out, `(?m)^(\d+) pages`)
			u.report(b, pages)
			l := readLog(b, data)
			stage := u.until(l.packed)
			b.ReportMetric(stage.rate(pages), "stage-pages/s")
			b.ReportMetric(stage.millis(pages), "stage-cpu-ms/page")
			b.ReportMetric(float64(stage.peak)/(1<<20), "stage-peak-MiB")
			for name, rate := range peers {
				b.ReportMetric(stage.rate(pages)/rate, "of-"+name)
			}
			b.ReportMetric(counts(b, url).First.Sub(u.began).Seconds(), "s-to-first-request")
			b.ReportMetric((u.wall - stage.wall).Seconds(), "s-to-searchable")
			b.ReportMetric(l.extract.Seconds(), "s-extract")
			b.ReportMetric(l.build.Seconds(), "s-build")
			b.ReportMetric(float64(status(b, data).Requests.Put)/float64(pages), "put/page")
		}
	})
}

// BenchmarkProcessors crawls the whole site with 1, 2, 4 and more processors (GOMAXPROCS of the program and of its object
// store), as many as the machine has. The figure processors is the number of processors that were busy on average, from
// the start of the program to its end. The web server runs on all processors of the same machine.
func BenchmarkProcessors(b *testing.B) {
	for n := 1; n <= runtime.NumCPU(); n *= 2 {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			url := site(b)
			b.Setenv("GOMAXPROCS", strconv.Itoa(n))
			for b.Loop() {
				data := filepath.Join(b.TempDir(), "data")
				u := crawl(b, data, url)
				pages := number(b, u.out, `(?m)^(\d+) pages`)
				stage := u.until(readLog(b, data).packed)
				b.ReportMetric(u.rate(pages), "pages/s")
				b.ReportMetric(stage.rate(pages), "stage-pages/s")
				b.ReportMetric(u.cpu.Seconds()/u.wall.Seconds(), "processors")
				b.ReportMetric((u.wall - stage.wall).Seconds(), "s-to-searchable")
			}
		})
	}
}

// BenchmarkRecrawl crawls the site a second time, unchanged. The figure times-cheaper is the
// processor time of the first crawl, divided by that of the second. In times-cheaper-than-stage, the
// dividend is only the processor time of the first crawl until its last page was packed.
func BenchmarkRecrawl(b *testing.B) {
	url := site(b)
	data := filepath.Join(b.TempDir(), "data")
	first := crawl(b, data, url)
	pages := number(b, first.out, `(?m)^(\d+) pages`)
	stage := first.until(readLog(b, data).packed)
	for b.Loop() {
		before := counts(b, url)
		again := crawl(b, data, url, "--recrawl")
		again.report(b, number(b, again.out, `(\d+) pages asked for again and unchanged`))
		after := counts(b, url)
		b.ReportMetric(first.cpu.Seconds()/again.cpu.Seconds(), "times-cheaper")
		b.ReportMetric(stage.cpu.Seconds()/again.cpu.Seconds(), "times-cheaper-than-stage")
		b.ReportMetric(stage.millis(pages), "stage-cpu-ms/page")
		b.ReportMetric(float64(after.Unchanged-before.Unchanged), "304s")
		b.ReportMetric(float64(after.Bytes-before.Bytes)/1000, "KB-of-pages")
	}
}

func crawl(b *testing.B, data, url string, flags ...string) usage {
	b.Helper()
	args := append([]string{"crawl", "--data", data, "--delay", "0", "--allow-private"}, flags...)
	return measure(b, nil, program, append(args, url)...)
}

// crawlLog holds figures of a crawl, read from the log of its functions.
type crawlLog struct {
	packed         time.Time // time at which the last page was packed
	extract, build time.Duration
}

func readLog(b *testing.B, data string) crawlLog {
	b.Helper()
	log, err := os.Open(filepath.Join(data, "log.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	var l crawlLog
	indexed := time.Now() // time at which indexing of the first package began
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct {
			Time           time.Time
			Msg            string
			Extract, Build time.Duration
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		switch line.Msg {
		case "packed":
			l.packed = line.Time
		case "indexed":
			l.extract += line.Extract
			l.build += line.Build
			if began := line.Time.Add(-line.Extract - line.Build); began.Before(indexed) {
				indexed = began
			}
		}
	}
	if indexed.Before(l.packed) {
		b.Logf("indexing began %v before the last page was packed: the machine is too busy to tell the crawl from it", l.packed.Sub(indexed))
	}
	return l
}

type statusJSON struct {
	Stored, Packages, Segments, Documents int
	Held                                  int64
	Requests                              struct{ Put, Get, List int64 }
}

func status(b *testing.B, data string) statusJSON {
	b.Helper()
	var s statusJSON
	u := measure(b, nil, program, "status", "--json", "--data", data)
	if err := json.Unmarshal([]byte(u.out), &s); err != nil {
		b.Fatalf("status: %v\n%s", err, u.out)
	}
	return s
}

func number(b *testing.B, text, pattern string) int {
	b.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		b.Fatalf("no %s in:\n%s", pattern, text)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		b.Fatal(err)
	}
	return n
}
