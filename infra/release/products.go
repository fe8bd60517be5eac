package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// write writes all files of the release to the new directory dir. The function build returns the program for a
// platform.
func (e edition) write(dir string, platforms []platform, build func(platform) (program, error)) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	var sums strings.Builder
	save := func(name string, content []byte, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(&sums, "%s  %s\n", sha256Of(content), name)
		return os.WriteFile(filepath.Join(dir, name), content, 0o644)
	}
	images := image{date: e.date}
	for _, on := range platforms {
		p, err := build(on)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("bucketsearch-%s-%s-%s", e.version, on.OS, on.Architecture)
		packed, err := e.archive(name, p)
		if err := save(name+".tar.gz", packed, err); err != nil {
			return err
		}
		bill, err := e.bill(p)
		if err := save(name+".cdx.json", bill, err); err != nil {
			return err
		}
		if on.OS != "linux" {
			continue
		}
		packed, err = e.debian(p)
		if err := save(fmt.Sprintf("bucketsearch_%s_%s.deb", e.version, on.Architecture), packed, err); err != nil {
			return err
		}
		if err := images.add(on, e.rootOf(p), "/bucketsearch"); err != nil {
			return fmt.Errorf("image for %s: %w", on.Architecture, err)
		}
	}
	if len(images.platforms) > 0 {
		packed, err := images.archive(e.version)
		if err := save("bucketsearch-"+e.version+"-image.tar", packed, err); err != nil {
			return err
		}
	}
	packed, err := tarGzip(e.chart, e.date)
	if err := save("bucketsearch-"+e.version+".tgz", packed, err); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// archive returns a tar archive, compressed, with a program and its papers in a directory.
func (e edition) archive(directory string, p program) ([]byte, error) {
	files := []file{
		{path: "LICENSE", mode: 0o644, content: e.licence},
		{path: "NOTICE", mode: 0o644, content: e.notice},
		{path: "bucketsearch", mode: 0o755, content: p.binary},
		{path: "bucketsearch.1", mode: 0o644, content: e.manual},
	}
	for _, shell := range shells {
		files = append(files, file{path: "completions/bucketsearch." + shell, mode: 0o644, content: e.completions[shell]})
	}
	for i := range files {
		files[i].path = directory + "/" + files[i].path
	}
	return tarGzip(files, e.date)
}

// user is the user as whom the program runs in the image, as in other small images.
const user = 65532

// rootOf returns the files of the image of a platform: the program, the certificates by which it trusts servers,
// and the directories that it may write.
func (e edition) rootOf(p program) []file {
	return []file{
		{path: "bucketsearch", mode: 0o755, content: p.binary},
		{path: "data/", mode: 0o755, owner: user},
		{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: e.certificates},
		{path: "tmp/", mode: 0o1777},
	}
}
