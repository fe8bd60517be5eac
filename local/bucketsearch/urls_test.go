package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestURLs crawls a site with a missing page and a page out of scope, and lists URLs by each flag.
func TestURLs(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	if got := do(t.Context(), "crawl", "--delay", "0", "--allow-private", web, web+"/toad", "--data", data); got.code != 0 {
		t.Fatal(got.err)
	}
	const root, frog, toad = "stored   WEB/", "stored   WEB/frog", "failed   WEB/toad  http 404"
	for args, want := range map[string][]string{
		"":                                   {toad, root, frog},
		"--state stored":                     {root, frog},
		"--state failed --reason http":       {toad},
		"--reason|http 404":                  {toad},
		"--reason|http 40":                   nil, // not whole words
		"--state pending":                    nil,
		"--site 127.0.0.1 --state failed":    {toad},
		"--site example.org":                 nil,
		"--collection default --reason http": {toad},
	} {
		words := strings.Fields(args)
		if strings.Contains(args, "|") {
			words = strings.Split(args, "|")
		}
		got := do(t.Context(), append([]string{"urls", "--data", data}, words...)...)
		lines := strings.FieldsFunc(strings.ReplaceAll(got.out, web, "WEB"), func(r rune) bool { return r == '\n' })
		slices.Sort(lines)
		if diff := cmp.Diff(want, lines); got.code != 0 || diff != "" {
			if len(want)+len(lines) > 0 || got.code != 0 {
				t.Errorf("urls %s: exit %d, %s (-want +got):\n%s", args, got.code, got.err, diff)
			}
		}
	}
	var entry listedURL
	got := do(t.Context(), "urls", "--state", "failed", "--json", "--data", data)
	if err := json.Unmarshal([]byte(got.out), &entry); err != nil || entry.URL != web+"/toad" || entry.Status != 404 || entry.Detail != "Not Found" || entry.Asked.IsZero() {
		t.Errorf("%v, %+v of %s", err, entry, got.out)
	}
	for args, want := range map[string]string{
		"--state lost": `--state is "lost"; write stored, skipped, failed or pending`, "--site a/b": `--site is "a/b"; write a host or domain`,
		"--collection lake": `no collection "lake"; there are: default`,
	} {
		if got := do(t.Context(), append([]string{"urls", "--data", data}, strings.Fields(args)...)...); got.code == 0 || !strings.Contains(got.err, want) {
			t.Errorf("urls %s: exit %d, %s", args, got.code, got.err)
		}
	}
}
