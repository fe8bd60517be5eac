package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestValues gives every flag that is not any text a value that it cannot have:
// none answers in the words of strconv or pflag.
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
			if want := `bucketsearch: --` + flag.Name + ` is "5 sec"; write `; got.code != 1 || !strings.HasPrefix(got.err, want) {
				t.Errorf("%s: exit %d, said %q; want %s", cmd.CommandPath(), got.code, got.err, want)
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(command())
	if seen < 30 {
		t.Errorf("only %d flags were tried", seen)
	}
}
