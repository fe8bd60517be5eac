// Command notice prints the names and licences of all modules that are linked into the programs
// of this repository:
//
//	go run ./tests/notice > local/bucketsearch/NOTICE
//
// A licence of several modules is printed once. The licences of code that is no Go module, such
// as PDFium, are read from files LICENSE.* in its directory in this repository.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// programs are the packages of the programs that are distributed.
var programs = []string{"./local/bucketsearch", "./functions/lambda/..."}

// licence matches the names, in upper case, of files with licences and notices, which must be
// distributed with the code.
var licence = regexp.MustCompile(`^(LICEN[CS]E|COPYING|NOTICE|PATENTS)([.-].*)?$`)

func main() {
	if err := write(os.Stdout, "."); err != nil {
		fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

// part is a module or other code that is linked into a program. The field directory is the
// directory with its files of licences.
type part struct{ name, directory string }

// write writes the names and licences of all code that is linked into the programs. The caller
// gives the directory of this module.
func write(out io.Writer, module string) error {
	module, err := filepath.Abs(module)
	if err != nil {
		return err
	}
	parts, err := linked(module)
	if err != nil {
		return err
	}
	own, err := beside(module)
	if err != nil {
		return err
	}
	names := make(map[string][]string) // names of the modules with a licence, by its text
	var texts []string
	for _, p := range append(parts, own...) {
		found, err := licences(p.directory)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for _, text := range found {
			if names[text] == nil {
				texts = append(texts, text)
			}
			names[text] = append(names[text], p.name)
		}
	}
	var b bytes.Buffer
	b.WriteString("The programs of Bucketsearch hold these works of others, under the licences that follow.\n")
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(names[text], "\n"), text)
	}
	_, err = out.Write(b.Bytes())
	return err
}

// platforms are those for which programs are distributed, as infra/release builds them: some modules are for one
// system only.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}

// linked returns Go's standard library and all modules that are linked into the programs of any platform.
func linked(module string) ([]part, error) {
	var lines []string
	for _, platform := range platforms {
		system, architecture, _ := strings.Cut(platform, "/")
		list := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}"}, programs...)...)
		list.Dir, list.Stderr = module, os.Stderr
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("cannot list what is linked in for %s: %w", platform, err)
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(out)), "\n")...)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("cannot find Go: %w", err)
	}
	slices.Sort(lines)
	parts := []part{{"Go's standard library", strings.TrimSpace(string(root))}}
	for _, line := range slices.Compact(lines) {
		name, directory, _ := strings.Cut(line, "\t")
		if directory != "" && !strings.HasPrefix(directory, module+string(filepath.Separator)) { // beside finds directories of this repository that replace modules
			parts = append(parts, part{name, directory})
		}
	}
	return parts, nil
}

// beside returns the third-party code that is copied into this module's repository: each directory
// below the root that has a file with a licence.
func beside(module string) (parts []part, err error) {
	err = filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
		switch directory := filepath.Dir(path); {
		case err != nil:
			return err
		case entry.IsDir() && path != module && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case !entry.IsDir() && directory != module && licence.MatchString(entry.Name()) && entry.Name() != "NOTICE":
			name, _ := filepath.Rel(module, directory)
			if !slices.ContainsFunc(parts, func(p part) bool { return p.directory == directory }) {
				parts = append(parts, part{"what is in " + filepath.ToSlash(name), directory})
			}
		}
		return nil
	})
	return parts, err
}

// licences returns the contents of the files with licences in a directory, in the order of the
// files' names. It fails if there are none.
func licences(directory string) (texts []string, err error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.IsDir() || !licence.MatchString(strings.ToUpper(entry.Name())) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(directory, entry.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	if texts == nil {
		return nil, errors.New("no licence: ask its author, or leave it out")
	}
	return texts, nil
}
