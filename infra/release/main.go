// Command release builds all that is distributed of Bucketsearch, without a container engine and without
// Debian's tools:
//
//	go run ./infra/release -o DIR
//
// It writes these files to the new directory DIR, of which VERSION is that of the program:
//
//	bucketsearch-VERSION-SYSTEM-ARCHITECTURE.tar.gz    the program, its manual page, completions for shells, licences
//	bucketsearch-VERSION-SYSTEM-ARCHITECTURE.cdx.json  the modules in the program (CycloneDX, a bill of materials)
//	bucketsearch_VERSION_ARCHITECTURE.deb              the same for Debian and Ubuntu, with the units of infra/servers
//	bucketsearch-VERSION-image.tar                     a container image for all Linux platforms (OCI image layout)
//	bucketsearch-VERSION.tgz                           the chart of infra/servers for Helm
//	SHA256SUMS                                         the checksums of all of them, for sha256sum -c
//
// The same commit and the same version of Go make the same bytes, on any machine. The image alone depends on one
// thing more: it has the certificates of this machine, by which the program trusts servers.
package main

import (
	"bytes"
	"debug/buildinfo"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	dir := flag.String("o", "", "write to this `directory`, which must not exist")
	names := flag.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "build for these `platforms`")
	flag.Parse()
	if *dir == "" || flag.NArg() > 0 {
		log.Fatal("want -o DIR, such as: go run ./infra/release -o /tmp/release")
	}
	platforms, err := parsePlatforms(*names)
	if err == nil {
		err = release(*dir, platforms, os.Stderr)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// platform is a kind of machine on which a program runs.
type platform struct {
	Architecture string `json:"architecture"` // as GOARCH names it
	OS           string `json:"os"`           // as GOOS names it
}

// parsePlatforms returns the platforms of a list such as linux/amd64,darwin/arm64.
func parsePlatforms(names string) (platforms []platform, err error) {
	for name := range strings.SplitSeq(names, ",") {
		system, architecture, found := strings.Cut(name, "/")
		if !found {
			return nil, fmt.Errorf("%q is no platform; write it like linux/arm64", name)
		}
		platforms = append(platforms, platform{architecture, system})
	}
	return platforms, nil
}

// release builds the program for the platforms, and writes all files to the new directory dir. It is run in the
// root of the repository. To out it writes of what the release is made.
func release(dir string, platforms []platform, out io.Writer) error {
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	path := filepath.Join(work, "bucketsearch")
	build := func(on platform) (program, error) { return compile(".", "./local/bucketsearch", on, path) }
	here, err := build(platform{runtime.GOARCH, runtime.GOOS})
	if err != nil {
		return err
	}
	e, err := readEdition(path, here.info)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, e.said)
	if !e.committed {
		fmt.Fprintln(out, "These are not known to be the sources of a commit: nobody else can make the same release.")
	}
	return e.write(dir, platforms, build)
}

// program is the program for one platform.
type program struct {
	platform
	binary []byte
	info   *debug.BuildInfo // what Go says of its modules
}

// compile builds a package in the directory dir for a platform, to the file path. The same sources make the same
// bytes, in whatever directory they are, and whatever the variables say by which Go's users choose flags and kinds of
// processors.
func compile(dir, pkg string, on platform, path string) (program, error) {
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, pkg)
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+on.OS, "GOARCH="+on.Architecture,
		"GOFLAGS=-buildvcs=auto", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off") // an empty variable would have no effect
	if said, err := build.CombinedOutput(); err != nil {
		return program{}, fmt.Errorf("cannot build for %s/%s: %w\n%s", on.OS, on.Architecture, err, said)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	return program{on, binary, info}, err
}
