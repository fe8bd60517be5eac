package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// TestValues gives a wrong value to every flag that accepts only certain texts. The error must
// be the program's own, which says what to write, and not one of package strconv or pflag.
func TestValues(t *testing.T) {
	t.Parallel()
	seen := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if kind := flag.Value.Type(); kind == "string" || kind == "stringArray" {
				return
			}
			if flag.Name == "help" {
				return
			}
			seen++
			got := do(t.Context(), append(strings.Fields(cmd.CommandPath())[1:], "--"+flag.Name+"=5 sec")...)
			if want := `bucketsearch: --` + flag.Name + ` is "5 sec"; write `; got.code != 2 || !strings.HasPrefix(got.err, want) {
				t.Errorf("%s: exit %d, said %q; want %s", cmd.CommandPath(), got.code, got.err, want)
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	root, _ := command()
	walk(root)
	if seen < 30 {
		t.Errorf("only %d flags were tried", seen)
	}
}

// TestNames checks the names of flags. A setting of a collection that is also a flag must have
// the same name in both. If a flag was renamed, the error for its old name must say the new one.
func TestNames(t *testing.T) {
	t.Parallel()
	stored, err := json.Marshal(collection.Collection{Seeds: []collection.Seed{{}}})
	if err != nil {
		t.Fatal(err)
	}
	var flags crawling
	defined := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.flags(defined)
	for _, name := range saidByFile {
		if key := `"` + strings.ReplaceAll(name, "-", "_") + `":`; defined.Lookup(name) == nil || !strings.Contains(string(stored), key) {
			t.Errorf("--%s is no flag, or %s not in %s", name, key, stored)
		}
	}
	for was, now := range formerly {
		got := do(t.Context(), "crawl", "--"+was, "2", "example.org")
		if strings.HasSuffix(now, "-a-day") {
			got = do(t.Context(), "limits", "--"+was, "2")
		}
		if want := "there is no flag --" + was + " any more; write --" + now; !strings.Contains(got.err, want) {
			t.Errorf("--%s: %s, want %s", was, got.err, want)
		}
	}
}
