package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCompletion checks which values are offered for flags and arguments: those that are read from the
// bucket, and fixed ones.
func TestCompletion(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	if got := do(t.Context(), "crawl", "--delay", "0", "--allow-private", "--data", data, web); got.code != 0 {
		t.Fatal(got.err)
	}
	if got := do(t.Context(), "keys", "add", "phone", "--data", data); got.code != 0 {
		t.Fatal(got.err)
	}
	const files, none, folders = ":0", ":4", ":16" // directives of cobra
	for _, test := range []struct {
		args string // the last word is to be completed, EMPTY if nothing of it is written yet
		want string
	}{
		{"collections show EMPTY", "default :4"},
		{"collections show default EMPTY", none},
		{"collections check EMPTY", "default :0"},
		{"collections remove EMPTY", "default :4"},
		{"keys remove EMPTY", "phone :4"},
		{"keys add EMPTY", none},
		{"keys add --scope EMPTY", "search page metrics :4"},
		{"collections EMPTY", "check list remove show :4"},
		{"search --collection d", "default :4"},
		{"search --collection x", none},
		{"status --collection EMPTY", "default :4"},
		{"crawl --collection EMPTY", files},
		{"list --site EMPTY", "127.0.0.1 :4"},
		{"forget EMPTY", "127.0.0.1 :4"},
		{"urls --state EMPTY", "stored skipped failed pending :4"},
		{"export --format w", "warc wacz webo :4"},
		{"export -o EMPTY", files},
		{"page --format EMPTY", "html text markdown json :4"},
		{"search --lang fr", "fr :4"},
		{"strategy share EMPTY", "crawl storage :4"},
		{"import EMPTY", files},
		{"why EMPTY", none},
		{"status --data EMPTY", folders},
		{"crawl --delay EMPTY", none},
	} {
		words := strings.Fields(test.args)
		if last := len(words) - 1; words[last] == "EMPTY" {
			words[last] = ""
		}
		got := do(t.Context(), append([]string{"__completeNoDesc", "--data", data}, words...)...)
		if said := strings.Join(strings.Fields(got.out), " "); said != test.want {
			t.Errorf("%s: %q, want %q", test.args, said, test.want)
		}
	}
	if got := do(t.Context(), "__completeNoDesc", "--data", data+"x", "list", "--site", ""); strings.TrimSpace(got.out) != none || got.code != 0 {
		t.Errorf("without a bucket: exit %d, %s", got.code, got.out)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := do(t.Context(), "completion", shell); got.code != 0 || !strings.Contains(got.out, "__complete") {
			t.Errorf("completion %s: exit %d, %.100s", shell, got.code, got.out)
		}
	}
}

// TestCompletedValues checks two things: the help of a command names every value that is offered for a
// flag such as --scope, and every key of the map of values belongs to a flag or an argument.
func TestCompletedValues(t *testing.T) {
	t.Parallel()
	root, where := command()
	unused := where.values()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		for kind := range strings.FieldsFuncSeq(c.Use, func(r rune) bool { return strings.ContainsRune(" |.[]", r) }) {
			delete(unused, kind)
			if c.HasParent() {
				delete(unused, c.Parent().Name()+" "+kind)
				delete(unused, c.Name()+" "+kind)
			}
		}
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			delete(unused, "--"+f.Name)
			delete(unused, c.Name()+" --"+f.Name)
			if !slices.Contains([]string{"scope", "state", "explain", "facet", "by", "format"}, f.Name) {
				return
			}
			complete, _ := c.GetFlagCompletionFunc(f.Name)
			values, _ := complete(c, nil, "")
			for _, value := range values {
				if !strings.Contains(f.Usage+c.Long, value) {
					t.Errorf("the help of %s says nothing of --%s %s", c.CommandPath(), f.Name, value)
				}
			}
			if len(values) < 2 {
				t.Errorf("%s --%s has no values", c.CommandPath(), f.Name)
			}
		})
	}
	walk(root)
	for name := range unused {
		t.Errorf("%s is neither a flag nor an argument of a command", name)
	}
}
