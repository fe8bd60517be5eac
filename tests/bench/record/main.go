// Command record copies the output of benchmarks from standard input to standard output, and
// writes their figures into a table of a Markdown file:
//
//	go test -bench . ./tests/bench | go run ./tests/bench/record tests/bench/README.md 'bash tests/bench/run'
//
// The second argument is the command by which the figures can be measured again. The table must
// follow the line "<!-- COMMAND -->" with the same command. The row of each benchmark in the input
// is replaced, or added; other rows stay as they are.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout, time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer, now time.Time) error {
	if len(args) != 2 {
		return errors.New("want a Markdown file and the command that repeats the figures")
	}
	rows, err := read(io.TeeReader(in, out), now)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	changed, err := put(string(page), args[1], rows)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return os.WriteFile(args[0], []byte(changed), 0o644)
}

// row is a row of the Markdown table, with the name of its benchmark.
type row struct{ name, line string }

var (
	// result matches the line of a benchmark: its name, number of processors, number of
	// iterations, and figures.
	result = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(\S+ \S+(?:\s+\S+ \S+)*)\s*$`)
	// figure matches one figure in the line of a benchmark: a number and its unit.
	figure = regexp.MustCompile(`(\S+) (\S+)`)
)

// read returns a row for each benchmark in the output of go test -bench. The rows have the given
// date.
func read(in io.Reader, now time.Time) (rows []row, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	of := "" // the package of the benchmarks, "" below tests/
	for lines.Scan() {
		if pkg, found := strings.CutPrefix(lines.Text(), "pkg: github.com/bucketsearch/bucketsearch/"); found {
			if of = pkg + " "; strings.HasPrefix(pkg, "tests/") {
				of = ""
			}
		}
		m := result.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		var figures []string
		for _, f := range figure.FindAllStringSubmatch(m[2], -1) {
			if f[2] != "ns/op" { // these benchmarks report figures of their own, which say more
				figures = append(figures, f[1]+" "+f[2])
			}
		}
		if figures == nil {
			figures = []string{m[2]}
		}
		rows = append(rows, row{of + m[1], fmt.Sprintf("| %s | %s | %s |", of+m[1], strings.Join(figures, ", "), now.Format(time.DateOnly))})
	}
	return rows, lines.Err()
}

// put adds rows to a table in a Markdown page, and returns the changed page. The table must follow
// the line "<!-- COMMAND -->" with the given command. A row replaces the old row of the same
// benchmark.
func put(page, command string, rows []row) (string, error) {
	head, rest, found := strings.Cut(page, "<!-- "+command+" -->\n")
	if !found {
		return "", fmt.Errorf("no table of %q", command)
	}
	table, tail, _ := strings.Cut(rest, "\n\n")
	lines := strings.Split(strings.TrimRight(table, "\n"), "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[1], "|---") {
		return "", fmt.Errorf("the table of %q has no head", command)
	}
	for _, r := range rows {
		of := "| " + r.name + " |"
		if i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, of) }); i >= 0 {
			lines[i] = r.line
		} else {
			lines = append(lines, r.line)
		}
	}
	end := "\n"
	if tail != "" {
		end = "\n\n" + tail
	}
	return head + "<!-- " + command + " -->\n" + strings.Join(lines, "\n") + end, nil
}
