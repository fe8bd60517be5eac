package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPublish publishes files of every kind into a new bucket, publishes them again, and changes some of
// them.
func TestPublish(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	docs := file("docs.toml", "name = \"docs\"\nseeds = [\"https://example.org/docs/?utm_source=x\"]\n")
	news := file("news.toml", "name = \"news\"\nseeds = [\"https://example.com/\"]\n")
	gone := file("gone.toml", "forget = [\"https://example.org/private.html\", \"example.net\"]\n")
	results := file("search.toml", "[[synonyms]]\nwords = [\"postgres\", \"pg\"]\n")
	rules := file("rules.json", `{"kind": "storage", "rules": [{"site": "example.com", "partition": 1}, {"pattern": "*", "partition": 0}]}`)
	data := filepath.Join(dir, "bucketsearch") // as buckets are often called: advice must name it once
	moment := regexp.MustCompile(`erased after [0-9: -]+`)
	publish := func(args ...string) []string {
		t.Helper()
		got := do(t.Context(), append([]string{"publish", "--data", data}, args...)...)
		if got.code != 0 {
			t.Fatalf("%v: exit %d:\n%s%s", args, got.code, got.out, got.err)
		}
		return strings.Split(strings.TrimSpace(moment.ReplaceAllString(got.out, "erased after TIME")+got.err), "\n")
	}
	changed := func() string {
		return file("docs.toml", "name = \"docs\"\nseeds = [\"https://example.org/docs/\"]\ndelay = \"2s\"\n")
	}
	all := []string{docs, news, gone, results, rules}
	for _, stage := range []struct {
		what   string
		before func() string // changes a file; nil: none is changed
		args   []string
		want   []string
	}{
		{"a new bucket", nil, all, []string{
			"published   strategy crawl of 1 partition, version 1",
			"published   strategy storage of 2 partitions, version 2",
			"published   collection docs, version 1",
			"published   collection news, version 1",
			"published   takedowns (2 new, erased after TIME), version 1",
			"published   curation, version 1",
		}},
		{"the same again", nil, all, []string{
			"unchanged   strategy crawl of 1 partition, version 1",
			"unchanged   strategy storage of 2 partitions, version 2",
			"unchanged   collection docs, version 1",
			"unchanged   collection news, version 1",
			"unchanged   takedowns, version 1",
			"unchanged   curation, version 1",
		}},
		{"a rehearsal of a change", changed, []string{"--dry-run", docs}, []string{
			"unchanged   strategy crawl of 1 partition, version 1",
			"unchanged   strategy storage of 2 partitions, version 2",
			"to publish  collection docs, version 2",
			"Collection news is in none of the files, and stays; to end it: bucketsearch --data " + data + " collections remove news",
		}},
		{"a change", nil, []string{docs, news}, []string{
			"unchanged   strategy crawl of 1 partition, version 1",
			"unchanged   strategy storage of 2 partitions, version 2",
			"published   collection docs, version 2",
			"unchanged   collection news, version 1",
		}},
	} {
		if stage.before != nil {
			stage.before()
		}
		if diff := cmp.Diff(stage.want, publish(stage.args...)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", stage.what, diff)
		}
	}
	if got := do(t.Context(), "collections", "show", "docs", "--data", data); !strings.Contains(got.out, "https://example.org/docs/ (scope host)") || !strings.Contains(got.out, "2s") {
		t.Errorf("the collection as published:\n%s%s", got.out, got.err)
	}
}

// TestPublishMistakes checks that publish names the mistakes of all files, and publishes none of them.
func TestPublishMistakes(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"good.toml":  "name = \"good\"\nseeds = [\"https://example.org/\"]\n",
		"twin.toml":  "name = \"good\"\nseeds = [\"https://example.com/\"]\n",
		"depth.toml": "name = \"deep\"\nseeds = [\"https://example.org/\"]\ndepth = \"deep\"\n",
		"gone.toml":  "forget = [\"example.org:8080\"]\n",
		"rules.json": "{\"kind\": 5}",
		"plan.json":  "{\"kind\": \"plan\"}",
		"notes.txt":  "example.org",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	got := do(t.Context(), "publish", "good.toml", "twin.toml", "depth.toml", "gone.toml", "rules.json", "plan.json", "notes.txt", "absent.toml")
	if got.code != int(exitUsage) {
		t.Errorf("exit %d", got.code)
	}
	for _, want := range []string{
		"good.toml and twin.toml are both the collection good; give one of them\n", "depth.toml:3: depth", "gone.toml:1: example.org:8080: is it a site or a URL?",
		"cannot read rules.json: line 1: kind", `cannot read plan.json: there is no "plan" strategy`,
		"notes.txt: its name tells nothing of its content", "cannot read absent.toml: ",
	} {
		if !strings.Contains(got.err, want) {
			t.Errorf("want %q in:\n%s", want, got.err)
		}
	}
	if _, err := os.Stat(usualData); err == nil {
		t.Error("a data directory was made")
	}
}
