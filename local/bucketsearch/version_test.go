package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The command version prints the newest version of the changelog, and can print the licences of
// all linked modules.
func TestVersion(t *testing.T) {
	t.Parallel()
	changes, err := os.ReadFile("../../.github/CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (\S+)`).FindSubmatch(changes)
	if newest == nil || string(newest[1]) != release {
		t.Errorf("the newest version of the changelog is %q, that of the program %q", newest, release)
	}
	if got := do(t.Context(), "version"); got.code != 0 || !strings.HasPrefix(got.out, "bucketsearch "+release) {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.err)
	}
	if got := do(t.Context(), "version", "--licences"); got.code != 0 || !strings.Contains(got.out, "PDFium Authors") {
		t.Errorf("exit %d: %.200s%s", got.code, got.out, got.err)
	}
}

// TestAgent: the User-Agent has the version and the URL of an existing page, the same on a
// laptop and on AWS.
func TestAgent(t *testing.T) {
	t.Parallel()
	const page = "(+https://github.com/bucketsearch/bucketsearch/blob/main/.github/CRAWLER.md)"
	if want := "bucketsearch/" + release + " " + page; agent != want {
		t.Errorf("agent %q, want %q", agent, want)
	}
	for file, want := range map[string]string{
		"../../infra/template.yaml": "Default: " + agent + "\n",
		"../../.github/CRAWLER.md":  "`User-agent: bucketsearch`",
	} {
		content, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(content), want) {
			t.Errorf("%s, %v: want %s", file, err, want)
		}
	}
}
