package main

import (
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

// TestVersion checks that the program's version is the newest one in the changelog. The command
// version must print it, and must print the licences of all linked modules with --licences.
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

// TestRevision checks what the command version says of the sources, after go build in a checkout with and
// without changes, after go install, and after go build without version control.
func TestRevision(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		want, module             string
		commit, committed, dirty string
	}{
		{" (commit 5f2de2fa8f69 of 2026-11-25)", "v0.1.0", "5f2de2fa8f69aabb", "2026-11-25T06:21:14Z", "false"},
		{" (commit 5f2de2fa8f69 of 2026-11-25, changed since)", "(devel)", "5f2de2fa8f69aabb", "2026-11-25T06:21:14Z", "true"},
		{" (module v0.1.0)", "v0.1.0", "", "", ""},
		{"", "(devel)", "", "", ""},
		{"", "", "", "", ""},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: test.module}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: test.commit}, {Key: "vcs.time", Value: test.committed}, {Key: "vcs.modified", Value: test.dirty},
		}}
		if got := revision(info); got != test.want {
			t.Errorf("%+v: %q, want %q", test, got, test.want)
		}
	}
}

// TestAgent checks that the User-Agent has the program's version and the URL of the page about the
// crawler, and that the template for AWS has the same User-Agent. The page must exist, and say under
// which name robots.txt addresses the crawler.
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
