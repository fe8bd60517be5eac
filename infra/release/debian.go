package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// control is the description of the Debian package: the version, the architecture, and the size in KiB of what it
// installs are filled in.
const control = `Package: bucketsearch
Version: %s
Architecture: %s
Maintainer: Bucketsearch <https://github.com/bucketsearch/bucketsearch/issues>
Installed-Size: %d
Recommends: ca-certificates
Section: web
Priority: optional
Homepage: https://github.com/bucketsearch/bucketsearch
Description: web search engine that lives in a bucket
 Crawls web sites, keeps every page in object storage, builds an immutable index
 beside them and answers searches. Its systemd units are installed, but none is
 started: systemctl enable --now bucketsearch.
`

// What dpkg runs: after it installed the package, so that services run the new program, and before it removes it.
// Only a removal, not an update, ends the services. A service that does not start again, for a mistake in its configuration,
// does not make the installation fail: systemctl tells of it.
const (
	afterInstall = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart 'bucketsearch*.service' || true
fi
`
	beforeRemoval = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl disable --now %s
fi
`
)

// debian returns the Debian package (deb(5)) of a program: an ar archive with a description and a tree of files.
func (e edition) debian(p program) ([]byte, error) {
	manual, err := gzipOf(e.manual)
	if err != nil {
		return nil, err
	}
	files := []file{
		{path: "usr/bin/bucketsearch", mode: 0o755, content: p.binary},
		{path: "usr/share/bash-completion/completions/bucketsearch", mode: 0o644, content: e.completions["bash"]},
		{path: "usr/share/doc/bucketsearch/copyright", mode: 0o644, content: slices.Concat(e.licence, []byte("\n"), e.notice)},
		{path: "usr/share/fish/vendor_completions.d/bucketsearch.fish", mode: 0o644, content: e.completions["fish"]},
		{path: "usr/share/man/man1/bucketsearch.1.gz", mode: 0o644, content: manual},
		{path: "usr/share/zsh/vendor-completions/_bucketsearch", mode: 0o644, content: e.completions["zsh"]},
	}
	var units []string
	for _, unit := range e.units {
		units = append(units, unit.path)
		installed := bytes.ReplaceAll(unit.content, []byte("/usr/local/bin/"), []byte("/usr/bin/"))
		files = append(files, file{path: "usr/lib/systemd/system/" + unit.path, mode: 0o644, content: installed})
	}
	size := 0
	for _, f := range files {
		size += len(f.content)
	}
	data, err := tarGzip(withDirectories(files), e.date)
	if err != nil {
		return nil, err
	}
	about, err := tarGzip([]file{
		{path: "control", mode: 0o644, content: fmt.Appendf(nil, control, e.version, p.Architecture, (size+1023)/1024)},
		{path: "postinst", mode: 0o755, content: []byte(afterInstall)},
		{path: "prerm", mode: 0o755, content: fmt.Appendf(nil, beforeRemoval, strings.Join(units, " "))},
	}, e.date)
	if err != nil {
		return nil, err
	}
	return arOf([]file{
		{path: "debian-binary", content: []byte("2.0\n")},
		{path: "control.tar.gz", content: about},
		{path: "data.tar.gz", content: data},
	}, e.date), nil
}

// arOf returns an ar archive of files, in the common format of which a Debian package is made. Their names have at
// most 16 bytes.
func arOf(files []file, date time.Time) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.path, date.Unix(), 0, 0, 0o100644, len(f.content))
		b.Write(f.content)
		if len(f.content)%2 == 1 {
			b.WriteByte('\n') // each file begins at an even offset
		}
	}
	return b.Bytes()
}
