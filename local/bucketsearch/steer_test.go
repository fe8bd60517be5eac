package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSteering crawls, steers and looks, one command after the other.
func TestSteering(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	for _, step := range []struct {
		args string
		code int
		want string // in what is said
	}{
		{"crawl --delay 0 --allow-private --max-pages 1 " + web, 0, "1 page stored"},
		{"why " + web, 0, "seed of collection default"},
		{"why " + web + "/frog", 0, "anchor \"Frogs\" on " + web + "/, at depth 1: admitted"},
		{"why --json " + web + "/frog", 0, `"state": "pending"`},
		{"why " + web + "/toad", 0, "no seed and no link that was found leads to it"},
		{"why nonsense", 1, "no web address"},
		{"limits --storage 5GB --usd 0.5", 0, "4.7 GiB"},
		{"limits", 0, "requests a day    no limit"},
		{"limits --storage lots", 1, "write it like 50GB"},
		{"limits --webhook nowhere", 1, "no web address"},
		{"pause --reason because", 0, "bucketsearch resume"},
		{"resume", 0, "Resumed."},
		{"resume", 0, "It was not paused."},
		{"forget " + web + "/frog", 1, "nothing was forgotten"},
		{"forget www.example.org", 1, "bucketsearch forget example.org"},
		{"forget --yes " + web, 0, "1 stored page forgotten (takedown 1), never to be asked for again; the next start erases them"},
		{"forget --yes " + web, 0, "(takedown 1)"},
		{"why " + web, 0, "forgotten since"},
		{"page " + web, 1, "no page is stored"},
		{"search heron", 0, "0 pages match"},
	} {
		got := do(t.Context(), append(strings.Fields(step.args), "--data", data)...)
		if got.code != step.code || !strings.Contains(got.out+got.err, step.want) {
			t.Fatalf("%s: exit %d, want %d and %q:\n%s%s", step.args, got.code, step.code, step.want, got.out, got.err)
		}
	}
}
