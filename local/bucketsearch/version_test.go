package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The newest version of the changelog is the one that is printed, and the
// licences of what is linked in can be read.
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
