package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/strategy/collection/docsearch"
)

// isConfig reports whether a file is a configuration of DocSearch, and not an archive of pages.
func isConfig(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	beginning := make([]byte, 512)
	n, err := io.ReadFull(file, beginning)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return false, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return docsearch.IsConfig(beginning[:n]), nil
}

// importConfig turns a configuration of DocSearch into a collection file, and prints what is not
// carried over. The parameter to is the path of the file, which must not exist; if it is "", the file
// is printed.
func importConfig(cmd *cobra.Command, paths []string, to string) error {
	if len(paths) > 1 {
		return misuse(fmt.Errorf("import takes one configuration at a time, and %s is one", paths[0]))
	}
	if cmd.Flags().Changed("collection") {
		return misuse(fmt.Errorf("--collection does not go with the configuration %s, which has a name of its own", paths[0]))
	}
	content, err := readAtMost(paths[0], docsearch.MaxBytes)
	if err != nil {
		return misuse(err)
	}
	file, notes, err := docsearch.Convert(paths[0], content)
	if err != nil {
		return misuse(err)
	}
	advice := fmt.Sprintf("Written as a collection file; to try it: bucketsearch collections check %s", quoted(to))
	if to == "" {
		advice = "This is a collection file; to keep it, write it by --to FILE."
		_, err = cmd.OutOrStdout().Write(file)
	} else {
		err = writeNew(to, file)
	}
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s:%d: %s: %s\n", paths[0], n.Line, n.Key, n.Text)
	}
	fmt.Fprintln(cmd.ErrOrStderr(), advice)
	return nil
}

// readAtMost reads the first most+1 bytes of a file. So a result with more than most bytes tells the
// caller that the file is too large.
func readAtMost(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most+1))
}

// writeNew writes a file that must not exist.
func writeNew(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return misuse(fmt.Errorf("%s exists already; write to another file, or remove it first", path))
	}
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}
