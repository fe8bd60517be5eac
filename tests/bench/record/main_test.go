package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The command record reads the figures of benchmarks from their output, and writes them into a
// table on a page. If the table has a row for a benchmark, that row is replaced; otherwise a row is
// added. Everything else on the page stays as it is.
func TestRecord(t *testing.T) {
	const before = "# Figures\n\n<!-- bash one -->\n| benchmark | figures | measured |\n|---|---|---|\n" +
		"| Crawl/wget | 1 pages/s | 2026-01-01 |\n| Old | 7 ms | 2026-01-01 |\n\nText.\n\n<!-- bash two -->\n| a | b | c |\n|---|---|---|\n"
	const output = "goos: linux\nBenchmarkCrawl/wget-2   \t       1\t12345 ns/op\t        1.9 cpu-ms/page\t       381 pages/s\n" +
		"pkg: github.com/bucketsearch/bucketsearch/layout/book\n    crawl_test.go:3: a log\nBenchmarkSum\t100\t12 ns/op\nPASS\nok  \tx\t1s\n"
	const after = "# Figures\n\n<!-- bash one -->\n| benchmark | figures | measured |\n|---|---|---|\n" +
		"| Crawl/wget | 1.9 cpu-ms/page, 381 pages/s | 2026-11-23 |\n| Old | 7 ms | 2026-01-01 |\n| layout/book Sum | 12 ns/op | 2026-11-23 |\n\nText.\n\n<!-- bash two -->\n| a | b | c |\n|---|---|---|\n"
	file := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 23, 1, 2, 3, 0, time.UTC)
	var passed bytes.Buffer
	if err := run([]string{file, "bash one"}, strings.NewReader(output), &passed, now); err != nil || passed.String() != output {
		t.Fatalf("passed on %q, %v", passed.String(), err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := run([]string{file, "bash three"}, strings.NewReader(output), &passed, now); err == nil {
		t.Error("recorded where there is no table")
	}
}
