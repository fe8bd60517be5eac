package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page, for man",
		Long: "Man prints the manual page bucketsearch(1), which has the help of all commands. For\n" +
			"others to find it, write it where man looks.",
		Example: "  bucketsearch man | man -l -\n  bucketsearch man > /usr/local/share/man/man1/bucketsearch.1",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), manual(cmd.Root()))
			return err
		},
	}
}

// manual returns the manual page of a command with all its subcommands, in the macros of man(7).
func manual(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH BUCKETSEARCH 1 \"\" \"bucketsearch %s\"\n.nh\n.ad l\n", release)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", root.Name(), roff(root.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n\\fIcommand\\fR [\\fIflags\\fR]\n", root.Name())
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s%s", preformatted(root.Long), preformatted(root.Example))
	fmt.Fprintf(&b, ".SH COMMANDS\n")
	describe(&b, root)
	fmt.Fprintf(&b, ".SH FLAGS OF ALL COMMANDS\n")
	describeFlags(&b, root.PersistentFlags())
	fmt.Fprintf(&b, ".SH EXIT STATUS\n%s", preformatted(exitHelp()))
	return b.String()
}

// describe writes the help of all subcommands of a command, and of their subcommands.
func describe(b *strings.Builder, of *cobra.Command) {
	for _, c := range of.Commands() {
		if c.Hidden {
			continue
		}
		use := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ") + strings.TrimPrefix(c.Use, c.Name())
		long := c.Long
		if long == "" {
			long = c.Short + "."
		}
		fmt.Fprintf(b, ".SS %s\n%s", roff(use), preformatted(long))
		describeFlags(b, c.LocalNonPersistentFlags())
		b.WriteString(preformatted(c.Example))
		describe(b, c)
	}
}

func describeFlags(b *strings.Builder, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR \\fI%s\\fR\n%s\n", roff(name), roff(kind), roff(strings.ReplaceAll(usage, "\n", " ")))
	})
}

// preformatted returns a text for a manual page in which the lines stay as they are; "" for "".
func preformatted(text string) string {
	if text == "" {
		return ""
	}
	return ".PP\n.nf\n" + roff(text) + "\n.fi\n"
}

// roff returns a text in which signs with a meaning in a manual page are replaced by sequences that print
// them as they are: each backslash, each hyphen (a plain one would be printed as another character), and
// a full stop or an apostrophe at the beginning of a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
