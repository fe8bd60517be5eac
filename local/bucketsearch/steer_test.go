package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSteering runs commands that crawl, control the crawl and show its state, one after the
// other.
func TestSteering(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	rules := t.TempDir()
	for name, content := range map[string]string{
		"hole.json":  `{"kind": "storage", "rules": [{"range": {"from": 9, "to": 0}, "partition": 0}]}`,
		"both.json":  `{"kind": "storage", "rules": [{"range": {"from": 0, "to": 9}, "partition": 0}, {"range": {"from": 7, "to": 0}, "partition": 1}]}`,
		"typo.json":  "{\"kind\": \"storage\",\n\"rule\": []}",
		"words.json": `{"kind": "storage", "rules": [{"site": "example.org", "partition": 5}, {"pattern": "*", "partition": 0}]}`,
	} {
		if err := os.WriteFile(filepath.Join(rules, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []struct {
		args string
		code int
		want string // in what is said
	}{
		{"crawl --delay 0 --allow-private --pages 1 " + web, 0, "1 page stored"},
		{"why " + web, 0, "seed of collection default"},
		{"why " + web + "/frog", 0, "anchor \"Frogs\" on " + web + "/, at depth 1: admitted"},
		{"why --json " + web + "/frog", 0, `"state": "pending"`},
		{"why " + web + "/toad", 0, "no seed and no link that was found leads to it"},
		{"why nonsense", 1, "no web address"},
		{"limits --storage 5GB --usd-a-day 0.5", 0, "4.7 GiB"},
		{"limits", 0, "requests-a-day    no limit"},
		{"limits --storage lots", 2, "write a size such as"},
		{"limits --webhook nowhere", 1, `webhook is "nowhere"; write a web address`},
		{"strategy show storage", 0, `"version": 1`},
		{"strategy show colours", 1, "want crawl or storage"},
		{"strategy share storage 3", 0, "The storage strategy version 2 holds from"},
		{"strategy share storage 3", 0, "version 2"},
		{"strategy split storage 1", 0, "Partition 1 gives sites to the new partition 3. The storage strategy version 3 holds from"},
		{"strategy list", 0, "33.3 %"},
		{"strategy join storage 3 1", 0, "Partition 3 gives its sites to partition 1. The storage strategy version 4 holds from"},
		{"strategy join storage 3 1", 1, "the storage strategy version 4 has no partition 3"},
		{"strategy split storage 9", 1, "the storage strategy version 4 gives partition 9 no range of two sites or more, so that it cannot be split"},
		{"strategy split storage x", 1, "PARTITION is \"x\"; write a whole number from 0 to 9999"},
		{"strategy publish " + rules + "/hole.json", 1, "no rule says where pages of the places from 0 to 9 belong (before rule 1)"},
		{"strategy publish " + rules + "/both.json", 1, "the ranges of rules 1 and 2 both hold the place 7"},
		{"strategy publish " + rules + "/typo.json", 1, `line 2: there is no field "rule"`},
		{"strategy publish " + rules + "/words.json", 0, "The storage strategy version 5 holds from"},
		{"verify", 0, "0 problems"},
		{"pause --reason because", 0, "bucketsearch resume"},
		{"resume", 0, "Resumed."},
		{"resume", 0, "It was not paused."},
		{"forget " + web + "/frog", 1, "nothing was forgotten"},
		{"forget www.example.org", 1, "bucketsearch forget example.org"},
		{"forget --yes " + web, 0, "1 stored page forgotten (takedown 1), never to be asked for again; hidden within seconds, and erased after "},
		{"forget --yes " + web, 0, "(takedown 1)"},
		{"search heron", 0, "0 pages match"},
		{"page " + web, 3, "no page is stored"},
		{"list", 0, ""},
		{"why " + web, 0, "to take that back: bucketsearch forget --undo"},
		{"verify", 0, "0 problems"},
		{"forget --undo example.org", 1, "nothing was taken back"},
		{"forget --undo " + web, 0, "is no longer forgotten: what is stored of it is found again"},
		{"search heron", 0, "1 page matches"},
		{"verify", 0, "0 problems"},
		{"forget --yes --now " + web, 0, "1 stored page forgotten (takedown 3), never to be asked for again; the next start erases them"},
		{"forget --undo " + web, 1, "is being erased, which cannot be stopped"},
		{"why " + web, 0, "forgotten since"},
		{"page " + web, 3, "no page is stored"},
		{"search heron", 0, "0 pages match"},
		{"collections remove --yes default", 0, "Collection default is removed"},
		{"forget --yes mailto:jane@example.org", 0, "0 stored pages forgotten"},
		{"why --json jane@example.org", 0, `"url": "mailto:jane@example.org"`},
		{"why jane@example.org", 0, "to take that back: bucketsearch forget --undo"},
		{"forget --undo jane@example.org", 0, "no longer forgotten"},
	} {
		got := do(t.Context(), append(strings.Fields(part.args), "--data", data)...)
		if got.code != part.code || !strings.Contains(got.said(data), part.want) {
			t.Fatalf("%s: exit %d, want %d and %q:\n%s%s", part.args, got.code, part.code, part.want, got.out, got.err)
		}
	}
}

// TestDeletedSettings: published documents that were deleted are restored by a repair. Until
// then, commands say what is missing and what to do.
func TestDeletedSettings(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	for _, part := range []struct {
		args   string
		remove string // key of the object that is deleted first
		code   int
		want   string // in what is said
	}{
		{"verify --repair", "", 3, "crawl a site first"},
		{"crawl --delay 0 --allow-private " + web, "", 0, "pending"},
		{"search heron", "collections", 0, "1 page"},
		{"verify", "", 4, "collections/default/000000000001.json is deleted, and its copy is there"},
		{"search heron", "strategy", 0, "1 page"}, // by the hint of the settings
		{"search heron", "hints/settings.json", 4, "its crawl strategy is missing; run `bucketsearch verify --repair`"},
		{"verify", "", 4, "run `bucketsearch verify --repair`"},
		{"crawl --delay 0 --allow-private " + web, "", 4, "run `bucketsearch verify --repair`"},
		{"verify --repair", "", 0, "strategy/storage/000000000001.json was deleted, and is there again"},
		{"verify", "", 0, "0 problems"},
		{"collections list", "", 0, web},
		{"search --facet type heron", "", 0, "type\n  text/html  1"},
		{"search heron", "", 0, "1 page"},
	} {
		if part.remove != "" {
			if err := os.RemoveAll(filepath.Join(data, "s3", "bucketsearch", part.remove)); err != nil {
				t.Fatal(err)
			}
		}
		got := do(t.Context(), append(strings.Fields(part.args), "--data", data)...)
		if got.code != part.code || !strings.Contains(got.said(data), part.want) {
			t.Fatalf("%s: exit %d, want %d and %q:\n%s%s", part.args, got.code, part.code, part.want, got.out, got.err)
		}
	}
}
