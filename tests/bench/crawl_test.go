package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// BenchmarkCrawl crawls the whole site from nothing: wget and colly get it and
// keep nothing or plain files, bucketsearch packs and indexes it as well.
func BenchmarkCrawl(b *testing.B) {
	b.Run("wget", func(b *testing.B) {
		url := site(b)
		for b.Loop() {
			broken := func(err error) bool { // links that the site lacks
				exit, is := err.(*exec.ExitError)
				return is && (exit.ExitCode() == 8 || exit.ExitCode() == 4)
			}
			u := measure(b, broken, "wget", "-r", "-l", "inf", "-nv", "-A", "html", url)
			u.report(b, bytes.Count([]byte(u.out), []byte("-> \"")))
		}
	})
	b.Run("colly", func(b *testing.B) {
		url := site(b)
		for b.Loop() {
			u := measure(b, nil, colly, url)
			u.report(b, number(b, u.out, `(\d+) pages`))
		}
	})
	b.Run("bucketsearch", func(b *testing.B) {
		url := site(b)
		for b.Loop() {
			data := filepath.Join(b.TempDir(), "data")
			u := crawl(b, data, url)
			pages := number(b, u.out, `(?m)^(\d+) pages`)
			u.report(b, pages)
			rate := float64(number(b, u.out, `(\d+) pages/s`))
			crawled := float64(pages) / rate
			b.ReportMetric(rate, "crawled-pages/s")
			b.ReportMetric(float64(u.peak(time.Duration(crawled*float64(time.Second))))/(1<<20), "crawled-peak-MiB")
			b.ReportMetric(u.wall.Seconds()-crawled, "s-to-searchable")
			b.ReportMetric(float64(status(b, data).Requests.Put)/float64(pages), "put/page")
			reportIndex(b, data)
		}
	})
}

func crawl(b *testing.B, data, url string) usage {
	b.Helper()
	return measure(b, nil, program, "crawl", "--data", data, "--delay", "0", "--allow-private", url)
}

// reportIndex tells extraction from building, by the functions' log.
func reportIndex(b *testing.B, data string) {
	b.Helper()
	log, err := os.Open(filepath.Join(data, "log.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	var extract, build time.Duration
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct {
			Msg            string
			Extract, Build time.Duration
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "indexed" {
			extract += line.Extract
			build += line.Build
		}
	}
	b.ReportMetric(extract.Seconds(), "s-extract")
	b.ReportMetric(build.Seconds(), "s-build")
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
