package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command and every flag has its place in the manual page, in the help of its command.
func TestManual(t *testing.T) {
	t.Parallel()
	got := do(t.Context(), "man")
	if got.code != 0 || !strings.HasPrefix(got.out, ".TH BUCKETSEARCH 1 ") {
		t.Fatalf("exit %d: %.200s%s", got.code, got.out, got.err)
	}
	parts := map[string]string{} // text of each command's part, by the command
	for _, part := range regexp.MustCompile(`(?m)^\.S[SH] `).Split(got.out, -1) {
		use, text, _ := strings.Cut(part, "\n")
		parts[strings.ReplaceAll(use, `\-`, "-")] = strings.ReplaceAll(text, `\-`, "-")
	}
	root, _ := command()
	flags := 0
	look := func(part string, set *pflag.FlagSet) {
		set.VisitAll(func(f *pflag.Flag) {
			if flags++; !regexp.MustCompile(`(?m)^\\fB(-., )?--` + f.Name + `\\fR`).MatchString(parts[part]) {
				t.Errorf("the manual says nothing of %s in %q", f.Name, part)
			}
		})
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Hidden {
				continue
			}
			use := strings.TrimPrefix(sub.CommandPath(), "bucketsearch ") + strings.TrimPrefix(sub.Use, sub.Name())
			if _, found := parts[use]; !found {
				t.Errorf("the manual says nothing of %q", use)
			}
			look(use, sub.LocalNonPersistentFlags())
			walk(sub)
		}
	}
	walk(root)
	look("FLAGS OF ALL COMMANDS", root.PersistentFlags())
	if flags < 50 {
		t.Errorf("%d flags were looked for", flags)
	}
	for line := range strings.Lines(got.out) {
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !regexp.MustCompile(`^\.(TH|SH|SS|PP|TP|B|nf|fi|nh|ad)\b`).MatchString(line) {
			t.Errorf("%q would be taken for a macro", line)
		}
	}
	if groff, err := exec.LookPath("groff"); err == nil {
		cmd := exec.Command(groff, "-Kutf8", "-man", "-Tutf8", "-ww", "-z")
		cmd.Stdin = strings.NewReader(got.out)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v: %s", err, out)
		}
	}
}

func TestRoff(t *testing.T) {
	for text, want := range map[string]string{"a-b": `a\-b`, `a\b`: `a\eb`, ".x\n'y\nz": "\\&.x\n\\&'y\nz"} {
		if got := roff(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
