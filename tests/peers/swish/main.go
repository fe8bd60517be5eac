// Command swish measures the search engine swish-e for benchmarks. Its subcommands are
// described in tests/peers/corpus. Each query starts a process, because the only other
// interface of swish-e is a C library.
package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bucketsearch/bucketsearch/tests/peers/corpus"
)

func main() { corpus.Main(peer{}) }

type peer struct{}

func (peer) Index(directory string, next func() (corpus.Page, error)) error {
	cmd := exec.Command("swish-e", "-v", "0", "-S", "prog", "-i", "stdin", "-f", index(directory))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for {
		p, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		text := p.Title + "\n" + strings.Join(p.Headings, "\n") + "\n" + p.Body
		if _, err := fmt.Fprintf(stdin, "Path-Name: %s\nContent-Length: %d\nDocument-Type: TXT*\n\n%s", p.URL, len(text), text); err != nil {
			return err
		}
	}
	if err := stdin.Close(); err != nil {
		return err
	}
	return cmd.Wait()
}

func (peer) Open(directory string) (func([]string) (int, error), error) {
	return func(words []string) (int, error) {
		// -H 0 prints results alone; words of a query must all occur.
		out, err := exec.Command("swish-e", "-H", "0", "-m", strconv.Itoa(10), "-f", index(directory), "-w", strings.Join(words, " ")).Output()
		return strings.Count(string(out), "\n"), err
	}, nil
}

func index(directory string) string { return filepath.Join(directory, "index") }
