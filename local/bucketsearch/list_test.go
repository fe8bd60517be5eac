package main

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/command/report"
)

// TestListAndReport crawls a site, and checks what the commands list and report print. It tries
// text, JSON and CSV, and each flag that selects pages, such as --lang.
func TestListAndReport(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	words := func(want int, args string) ran {
		t.Helper()
		got := do(t.Context(), append(strings.Fields(args), "--data", data)...)
		if got.code != want {
			t.Fatalf("%s: exit %d:\n%s%s", args, got.code, got.out, got.err)
		}
		return got
	}
	words(0, "crawl --delay 0 --allow-private "+web)
	line := regexp.MustCompile(`^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d  en +\d+  text/html +` + web + `/(frog)?\n$`)
	got := words(0, "list").out
	for one := range strings.Lines(got) {
		if !line.MatchString(one) {
			t.Errorf("list: %q", one)
		}
	}
	if n := strings.Count(got, "\n"); n != 2 {
		t.Errorf("list has %d lines", n)
	}
	for args, want := range map[string]int{"--lang en": 2, "--lang EN-gb": 2, "--lang de": 0, "--collection default": 2, "--site 127.0.0.1": 2, "--site example.org": 0,
		"--day 2020-01-01": 0, "--since 2020-01-01": 2, "--until 2020-01-01": 0, "--asof 2020-01-01": 0} {
		if n := strings.Count(words(0, "list "+args).out, "\n"); n != want {
			t.Errorf("list %s: %d lines, want %d", args, n, want)
		}
	}
	if got := words(0, "list --site example.org").err; got != "No stored page matches.\n" {
		t.Errorf("list --site example.org: %s", got)
	}
	for _, args := range []string{"list", "export -o " + filepath.Join(t.TempDir(), "pages")} {
		if got := words(1, args+" --collection lake").err; !strings.Contains(got, `no collection "lake"; there are: default`) {
			t.Errorf("%s --collection lake: %s", args, got)
		}
	}
	if got := words(2, "list --day 2020-01-01 --since 2020-01-01").err; !strings.Contains(got, "--day does not go with --since") {
		t.Error(got)
	}
	var page listedPage
	first, _, _ := strings.Cut(words(0, "list --json").out, "\n")
	if err := json.Unmarshal([]byte(first), &page); err != nil || !strings.HasPrefix(page.URL, web) || page.Lang != "en" || page.Bytes <= 0 || len(page.Collections) != 1 {
		t.Errorf("list --json: %v, %s", err, first)
	}

	if got := words(0, "report").out; !regexp.MustCompile(`(?s)^ *pages +sites +bytes +language\n +2 +1 +[0-9.]+ K?i?B +en\n +2 +1 +[0-9.]+ K?i?B +all\n.*  packages \(2 packages\)\n.*  all\b`).MatchString(got) {
		t.Errorf("report:\n%s", got)
	}
	if got := words(0, "report --by site").out; !strings.Contains(got, "127.0.0.1\n") || strings.Contains(got, "language") {
		t.Errorf("report --by site:\n%s", got)
	}
	var made report.Report
	if err := json.Unmarshal([]byte(words(0, "report --json").out), &made); err != nil || made.Total.Pages != 2 || len(made.Languages) != 1 || len(made.Days) != 1 || len(made.Sizes) == 0 {
		t.Errorf("report --json: %v, %+v", err, made)
	}
	rows, err := csv.NewReader(strings.NewReader(words(0, "report --csv").out)).ReadAll()
	if err != nil || strings.Join(rows[0], ",") != "by,value,pages,sites,bytes,assets,asset_bytes" || strings.Join(rows[1][:4], ",") != "language,en,2,1" || rows[len(rows)-1][0] != "size" {
		t.Errorf("report --csv: %v, %q", err, rows)
	}
	if rows, err := csv.NewReader(strings.NewReader(words(0, "report --csv --by collection").out)).ReadAll(); err != nil || len(rows) != 2 || rows[1][1] != "default" {
		t.Errorf("report --csv --by collection: %v, %q", err, rows)
	}
	for args, want := range map[string]string{"--by month": `--by is "month"; write language, source, collection, site or day`, "--json --csv": "--json and --csv do not go together"} {
		if got := words(2, "report "+args).err; !strings.Contains(got, want) {
			t.Errorf("report %s: %s", args, got)
		}
	}
}
