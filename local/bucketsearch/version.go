package main

import (
	_ "embed"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of this program: the newest one in .github/CHANGELOG.md.
const release = "0.1.0"

// notice is the text of the licences of all modules in the program: the output of
// `go run ./tests/notice`.
//
//go:embed NOTICE
var notice string

func versionCommand() *cobra.Command {
	var licences bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program, and the licences of what is in it",
		Args:  nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if licences {
				_, err := io.WriteString(cmd.OutOrStdout(), notice)
				return err
			}
			info, known := debug.ReadBuildInfo()
			if !known { // built without modules
				info = new(debug.BuildInfo)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "bucketsearch %s%s, built with %s for %s/%s\nLicensed under Apache-2.0; what it holds of others: bucketsearch version --licences\n",
				release, revision(info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	cmd.Flags().BoolVar(&licences, "licences", false, "print the licences of all works in this program")
	return cmd
}

// revision returns the commit from which the program was built, and its date, such as " (commit
// 5f2de2fa8f69 of 2026-11-25)". If the commit is not known, as after go install, it returns the version of
// the module, such as " (module v0.1.0)"; "" if that is not known either.
func revision(info *debug.BuildInfo) string {
	known := make(map[string]string)
	for _, s := range info.Settings {
		known[s.Key] = s.Value
	}
	commit, module := known["vcs.revision"], info.Main.Version
	switch {
	case commit == "" && (module == "" || module == "(devel)"):
		return ""
	case commit == "":
		return fmt.Sprintf(" (module %s)", module)
	}
	changed := ""
	if known["vcs.modified"] == "true" {
		changed = ", changed since"
	}
	return fmt.Sprintf(" (commit %.12s of %.10s%s)", commit, known["vcs.time"], changed)
}
