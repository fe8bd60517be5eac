package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// saidByFile holds the names of the flags whose values a collection file sets. A command
// refuses these flags together with --collection.
var saidByFile = []string{"scope", "depth", "pages", "delay", "host-connections"}

// readCollections reads collection files. It fails if two files name the same collection. It fails
// if a flag of the command line sets what collection files set (see saidByFile). Seeds of the
// command line belong to system.DefaultCollection; if there are any, it also fails if a file names
// this collection.
func readCollections(flags *pflag.FlagSet, files []string, seeds bool) ([]collection.Collection, error) {
	if len(files) == 0 {
		return nil, nil
	}
	for _, flag := range saidByFile {
		if flags.Changed(flag) {
			return nil, fmt.Errorf("--%s does not go with --collection, whose file says it (%s); change %s, or crawl seeds of your own by another command",
				flag, strings.ReplaceAll(flag, "-", "_"), files[0])
		}
	}
	named := make(map[string]string) // files by the names of their collections
	if seeds {
		named[system.DefaultCollection] = "the seeds of the command line"
	}
	var all []collection.Collection
	for _, file := range files {
		c, err := collection.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if other, taken := named[c.Name]; taken {
			return nil, fmt.Errorf("%s and %s are one collection, %q; give one of them another name", other, file, c.Name)
		}
		named[c.Name] = file
		all = append(all, c)
	}
	return all, nil
}
