package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/system"
)

// nothing returns an error if a command that takes no arguments has any.
func nothing(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument, and there is %q", cmd.Name(), args[0])
	}
	return nil
}

// some is the number of arguments of a command that takes one or more.
const some = -1

// needs returns a function that returns an error unless a command has n arguments. The error says what the arguments
// are, and gives an example.
func needs(n int, what, example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n || n == some && len(args) > 0 {
			return nil
		}
		name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
		return fmt.Errorf("%s needs %s, such as: %s %s", name, what, cmd.CommandPath(), example)
	}
}

var (
	oneName    = needs(1, "the name of one collection", system.DefaultCollection)
	oneKey     = needs(1, "the name of one key", "phone")
	oneAddress = needs(1, "one address", "https://example.org/")
)
