package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

func pageCommand(where *location) *cobra.Command {
	return &cobra.Command{
		Use:     "page URL",
		Short:   "Print the stored page, byte for byte",
		Example: "  bucketsearch page https://example.org/ > page.html",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("page needs one address, such as: bucketsearch page https://example.org/")
			}
			return nil
		},
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			wanted, err := collection.ParseSeed(args[0])
			if err != nil {
				return fmt.Errorf("%.200q is no web address; write it like https://example.org/", args[0])
			}
			e, err := engine(a)
			if err != nil {
				return err
			}
			page, err := e.PageInBooks(cmd.Context(), wanted)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(page.Data)
			return err
		}),
	}
}
