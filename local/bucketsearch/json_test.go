package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// jsonOf holds the arguments with which TestJSON runs each command that prints JSON.
var jsonOf = map[string]string{
	"search": "--explain score --facet site heron", "status": "", "why": "SITE/frog", "verify": "--repair", "list": "", "urls": "", "crawl": "--delay 0 --allow-private SITE", "report": "", "keys list": "",
	"eval":             "--queries QUERIES --qrels QRELS",
	"collections list": "", "collections show": "default", "collections check": "--allow-private FILE", "collections remove": "--pages --yes default", // must run last
}

// unlike matches JSON that no command may print: null, a number with eleven or more digits after
// the point, a whole number of 17 digits or more, or a time that is not in UTC.
var unlike = regexp.MustCompile(`: null\b|: -?[0-9]+\.[0-9]{11}|: [0-9]{17}|T[0-9:.]+[+-][0-9]{2}:[0-9]{2}"`)

// TestJSON runs every command that has the flag --json, with this flag. What the command prints
// must be valid JSON without null, long fractions and the like (see the variable unlike).
func TestJSON(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	if got := do(t.Context(), "crawl", "--delay", "0", "--allow-private", "--data", data, web); got.code != 0 {
		t.Fatal(got.err)
	}
	queries, qrels := filepath.Join(t.TempDir(), "queries"), filepath.Join(t.TempDir(), "qrels")
	file := filepath.Join(t.TempDir(), "pond.toml")
	for path, content := range map[string]string{
		queries: "1\theron\n", qrels: "1\t" + web + "/heron\t1\n", file: "name = \"pond\"\ndelay = \"0s\"\nseeds = [\"" + web + "\"]\n",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range slices.Backward(cmd.Commands()) { // sorted by name, so that collections remove runs last
			walk(sub)
		}
		if cmd.Flags().Lookup("json") == nil {
			return
		}
		args, known := jsonOf[strings.TrimPrefix(cmd.CommandPath(), "bucketsearch ")]
		if !known {
			t.Errorf("%s prints JSON that no test looks at", cmd.CommandPath())
			return
		}
		seen++
		words := strings.Fields(cmd.CommandPath() + " --json --data " + data + " " + strings.NewReplacer("SITE", web, "QUERIES", queries, "QRELS", qrels, "FILE", file).Replace(args))
		got := do(t.Context(), words[1:]...)
		values := []string{got.out}
		if cmd.Name() == "list" && cmd.Parent().Name() == "bucketsearch" || cmd.Name() == "urls" || cmd.Name() == "crawl" {
			values = slices.Collect(strings.Lines(got.out))
		}
		if got.code != 0 || len(values) == 0 || slices.ContainsFunc(values, func(value string) bool { return !json.Valid([]byte(value)) }) {
			t.Errorf("%s: exit %d, %s\n%s", cmd.CommandPath(), got.code, got.err, got.out)
		}
		if cmd.Name() == "status" && !regexp.MustCompile(`"received_bytes": [1-9]`).MatchString(got.out) {
			t.Errorf("status does not tell of the network:\n%s", got.out)
		}
		if found := unlike.FindString(strings.ReplaceAll(got.out, web, "")); found != "" {
			t.Errorf("%s prints %s:\n%s", cmd.CommandPath(), found, got.out)
		}
	}
	root, _ := command()
	walk(root)
	if seen != len(jsonOf) {
		t.Errorf("%d of %d commands were tried", seen, len(jsonOf))
	}
}
