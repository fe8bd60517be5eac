package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// edition is what the files of a release have in common, whatever their platform.
type edition struct {
	said      string    // first line of what the command version prints
	version   string    // such as 0.1.0
	date      time.Time // that of the commit; all files in archives have it
	committed bool      // the sources are those of a commit

	licence, notice []byte            // the licence of the program, and those of the modules in it
	manual          []byte            // for man
	completions     map[string][]byte // by the name of the shell
	units           []file            // of systemd
	chart           []file            // of Helm
	certificates    []byte            // of the authorities by which the program trusts servers
}

// undated is the date of files if that of the commit is not known: the oldest one that no archive refuses.
var undated = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// certificates are the paths at which systems keep the certificates of authorities.
var certificates = []string{
	"/etc/ssl/certs/ca-certificates.crt", // Debian, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",   // Fedora
	"/etc/ssl/cert.pem",                  // macOS
}

// shells are those for which there are completions.
var shells = []string{"bash", "zsh", "fish"}

// readEdition reads what all files share: from the program at path, which runs on this machine, from what Go
// says of it, and from the repository, in whose root it is called.
func readEdition(path string, info *debug.BuildInfo) (e edition, err error) {
	ask := func(arguments ...string) []byte {
		command := exec.Command(path, arguments...)
		var failed bytes.Buffer
		command.Stderr = &failed
		printed, failure := command.Output()
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), failure, failed.Bytes()))
		}
		return printed
	}
	read := func(name string) []byte {
		content, failure := os.ReadFile(name)
		err = errors.Join(err, failure)
		return content
	}
	e.said, _, _ = strings.Cut(string(ask("version")), "\n")
	e.manual, e.completions = ask("man"), make(map[string][]byte)
	for _, shell := range shells {
		e.completions[shell] = ask("completion", shell)
	}
	e.licence, e.notice = read("LICENSE"), read("local/bucketsearch/NOTICE")
	units, _ := filepath.Glob("infra/servers/*.service") // fails for a malformed pattern only
	for _, unit := range units {
		e.units = append(e.units, file{path: filepath.Base(unit), mode: 0o644, content: read(unit)})
	}
	chart, failure := readChart("infra/servers/chart")
	e.chart, err = chart, errors.Join(err, failure)
	existing := slices.IndexFunc(certificates, func(path string) bool { _, err := os.Stat(path); return err == nil })
	if existing < 0 {
		return e, errors.Join(err, fmt.Errorf("this machine has no certificates of authorities at %s", strings.Join(certificates, ", ")))
	}
	e.certificates = read(certificates[existing])
	if err != nil {
		return e, err
	}
	e.date, e.committed = commitOf(info)
	e.version, err = versionOf(e.said)
	return e, err
}

// readChart returns the files of the chart in a directory, as they are in an archive for Helm.
func readChart(dir string) (files []file, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files = append(files, file{path: "bucketsearch" + strings.TrimPrefix(filepath.ToSlash(path), dir), mode: 0o644, content: content})
		return err
	})
	return files, err
}

// versionOf returns the version in a line such as "bucketsearch 0.1.0, built with go1.26.8 for linux/amd64".
func versionOf(said string) (string, error) {
	found := regexp.MustCompile(`^bucketsearch (\d[^\s,]*)`).FindStringSubmatch(said)
	if found == nil {
		return "", fmt.Errorf("the program does not say its version: %q", said)
	}
	return found[1], nil
}

// commitOf returns the date of the commit from which a program was built, and whether its sources were those of
// the commit.
func commitOf(info *debug.BuildInfo) (date time.Time, committed bool) {
	date = undated
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.time":
			if at, err := time.Parse(time.RFC3339, s.Value); err == nil {
				date = at.UTC()
			}
		case "vcs.modified":
			committed = s.Value == "false"
		}
	}
	return date, committed
}
