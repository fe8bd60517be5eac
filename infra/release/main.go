// Command image builds a container image of the program bucketsearch, without a container engine, as an OCI
// image layout: a directory that the tools for images read.
//
//	go run ./infra/servers/image -o DIR                     for linux/amd64 and linux/arm64
//	skopeo copy --all oci:DIR:latest docker://registry.example.org/bucketsearch:latest
//	tar -C DIR -cf image.tar . && ctr images import image.tar
//
// The image has the program, the certificates of this machine by which it trusts servers, and the directories
// /tmp and /data, which the program may write. It runs as the user 65532. The same sources and certificates
// make the same bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// user is the user who owns the directories that the program may write, as in other small images.
const user = 65532

// certificates are the paths at which systems keep the certificates of authorities.
var certificates = []string{
	"/etc/ssl/certs/ca-certificates.crt", // Debian, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",   // Fedora
	"/etc/ssl/cert.pem",                  // macOS
}

func main() {
	log.SetFlags(0)
	dir := flag.String("o", "", "write the image to this `directory`, which must not exist")
	platforms := flag.String("platforms", "linux/amd64,linux/arm64", "build for these `platforms`")
	tag := flag.String("tag", "latest", "`tag` of the image")
	flag.Parse()
	if *dir == "" || flag.NArg() > 0 {
		log.Fatal("image: want -o DIR, such as: go run ./infra/servers/image -o /tmp/bucketsearch-image")
	}
	if err := build(*dir, strings.Split(*platforms, ","), *tag); err != nil {
		log.Fatal("image: ", err)
	}
}

// build writes the image to a new directory.
func build(dir string, platforms []string, tag string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	trusted, err := readFirst(certificates)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	l := layout{dir}
	var images []descriptor
	for _, name := range platforms {
		system, architecture, found := strings.Cut(name, "/")
		if !found {
			return fmt.Errorf("%q is no platform; write it like linux/arm64", name)
		}
		program := filepath.Join(work, "bucketsearch")
		compile := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "github.com/bucketsearch/bucketsearch/local/bucketsearch")
		compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture)
		if said, err := compile.CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build for %s: %w\n%s", name, err, said)
		}
		binary, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		image, err := l.image(platform{architecture, system}, []file{
			{path: "bucketsearch", mode: 0o755, content: binary},
			{path: "data/", mode: 0o755, owner: user},
			{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: trusted},
			{path: "tmp/", mode: 0o1777},
		}, "/bucketsearch")
		if err != nil {
			return err
		}
		images = append(images, image)
	}
	return l.finish(tag, images)
}

// readFirst returns the content of the first of the files that exists.
func readFirst(paths []string) ([]byte, error) {
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if !errors.Is(err, os.ErrNotExist) {
			return content, err
		}
	}
	return nil, fmt.Errorf("this machine has no certificates of authorities at %s", strings.Join(paths, ", "))
}
