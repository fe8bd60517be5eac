package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCurate publishes, shows and removes a curation, and searches with it.
func TestCurate(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	if got := do(t.Context(), "crawl", "--delay", "0", "--allow-private", "--data", data, web); got.code != 0 {
		t.Fatal(got.err)
	}
	file := filepath.Join(t.TempDir(), "search.toml")
	write := func(content string) {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	curate := func(args ...string) ran {
		return do(t.Context(), append([]string{"--data", data, "curate"}, args...)...)
	}
	search := func(query string) ran { return do(t.Context(), "--data", data, "search", "--json", query) }
	if got := curate("--show"); got.code != 0 || got.out != "" || !strings.Contains(got.err, "There are no synonyms, pins and bans.") {
		t.Errorf("at first: %+v", got)
	}
	write("[[pins]]\nqueries = ['Somewhere']\npages = ['" + web + "', 'https://absent.example/']\n")
	if got := curate(file); got.code != 0 || got.out != "Version 1 has 0 sets of synonyms, 1 pin and 0 bans.\n" ||
		!strings.Contains(got.err, "Warning: https://absent.example/ is pinned, but it is not indexed") || strings.Contains(got.err, web) {
		t.Errorf("published: %+v", got)
	}
	if got := search("somewhere"); !strings.Contains(got.out, `"pinned": true`) {
		t.Errorf("searched: %+v", got)
	}
	shown := curate("--show")
	if shown.code != 0 || !strings.Contains(shown.out, "https://absent.example/") {
		t.Errorf("shown: %+v", shown)
	}
	write(shown.out)
	if got := curate(file); got.code != 0 || !strings.HasPrefix(got.out, "Version 1 ") { // it is the same
		t.Errorf("published as it was shown: %+v", got)
	}
	write("[[pins]]\nqueries = ['a']\npages = ['nowhere']\n")
	for want, args := range map[string][]string{
		file + ":3: pages: a page is \"nowhere\"; write the address of one page": {file},
		"no such file": {file + "x"},
		"curate needs one file, such as: bucketsearch": {},
		"give one of --show and --remove":              {"--show", "--remove"},
		"curate takes no argument":                     {"--remove", file},
	} {
		if got := curate(args...); got.code == 0 || !strings.Contains(got.err, want) {
			t.Errorf("%v: %+v, want %q", args, got, want)
		}
	}
	if got := curate("--remove"); got.code != 0 {
		t.Errorf("removed: %+v", got)
	}
	if got := search("somewhere"); strings.Contains(got.out, "pinned") {
		t.Errorf("searched after that: %+v", got)
	}
}
