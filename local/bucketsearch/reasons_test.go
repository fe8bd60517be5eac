package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReasons: every reason that fetch can give has an explanation.
func TestReasons(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../functions/fetch/*.go")
	if err != nil {
		t.Fatal(err)
	}
	given := regexp.MustCompile(`verdict\{book\.[A-Z][a-z]+, "([^"]+)"`)
	seen := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range given.FindAllSubmatch(content, -1) {
			seen[string(match[1])] = true
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d reasons were found", len(seen))
	}
	for reason := range seen {
		if explanations[reason] == "" {
			t.Errorf("%q is not explained", reason)
		}
	}
	for reason, words := range explanations {
		if n := len(strings.Fields(words)); n < 3 || n > 9 {
			t.Errorf("%s is explained in %d words: %s", reason, n, words)
		}
	}
	if got, want := explained("http 404"), "http 404 (the server said: Not Found)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := explained("of a later program"); got != "of a later program" {
		t.Error(got)
	}
}
