package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemoveWithPages removes collections with the pages that they alone have brought, and takes that
// back. Pages of another collection must stay.
func TestRemoveWithPages(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	file := filepath.Join(t.TempDir(), "frogs.toml")
	if err := os.WriteFile(file, []byte("name = \"frogs\"\ndelay = \"0s\"\ndepth = 0\nseeds = [\""+web+"/frog\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		args string
		code int
		want string // in what is said
	}{
		{"crawl --delay 0 --allow-private " + web, 0, "2 pages stored"},
		{"crawl --allow-private --collection " + file, 0, ""},
		{"collections remove --now default", 2, "write --pages --now"},
		{"collections remove --pages nothing", 1, `there is no collection "nothing"`},
		{"collections remove --pages default", 1, "nothing was removed; to go on without being asked: bucketsearch collections remove default --pages --yes"},
		{"collections remove --pages default", 1, strings.TrimPrefix(web, "http://") + "  1 page\n"},
		{"collections list", 0, "default"},
		{"search heron", 0, "1 page matches"},
		{"collections remove --pages --yes default", 0, "1 stored page forgotten (takedown 1), never to be asked for again; hidden within seconds, and erased after "},
		{"search heron", 0, "0 pages match"},
		{"search frog", 0, "1 page matches"},
		{"verify", 0, "0 problems"},
		{"collections remove --pages --yes default", 1, `there is no collection "default"`},
		{"forget --takedown 1", 2, "forget --undo --takedown 7"},
		{"forget --undo --takedown 1 " + web, 2, "without addresses"},
		{"forget --undo --takedown 9", 1, "there is no takedown 9"},
		{"forget --undo --takedown 1", 0, "Takedown 1: 1 address no longer forgotten: what is stored of them is found again within seconds."},
		{"forget --undo --takedown 1", 1, "nothing was taken back: nothing that takedown 1 names is forgotten any more"},
		{"search heron", 0, "1 page matches"},
		{"verify", 0, "0 problems"},
		{"collections remove --pages --yes --now --json default", 0, `"taken_down": 1`}, // it is removed already, and its page is there again
		{"forget --undo --takedown 3", 1, "being erased"},
		{"search heron", 0, "0 pages match"},
		{"collections remove frogs", 0, "bucketsearch collections remove frogs --pages"},
		{"search frog", 0, "1 page matches"},
		{"collections remove --pages --yes frogs", 1, `there is no collection "frogs"`}, // its page was of the other, too
	} {
		got := do(t.Context(), append(strings.Fields(part.args), "--data", data)...)
		if got.code != part.code || !strings.Contains(got.said(data), part.want) {
			t.Fatalf("%s: exit %d, want %d and %q:\n%s%s", part.args, got.code, part.code, part.want, got.out, got.err)
		}
	}
}
