package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"time"
)

// file is a file or a directory of an archive.
type file struct {
	path    string // without a slash at its beginning; a directory ends with one
	mode    int64
	owner   int // number of its user and of its group
	content []byte
}

// tarOf returns a tar archive of the files, in their order, each with the date.
func tarOf(files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		header := &tar.Header{Name: f.path, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.content)), ModTime: date, Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.path, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// gzipOf returns a content compressed by gzip. Without a name and a time in it, the same content makes the same
// bytes.
func gzipOf(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}

// tarGzip returns a tar archive of the files, compressed.
func tarGzip(files []file, date time.Time) ([]byte, error) {
	packed, err := tarOf(files, date)
	if err != nil {
		return nil, err
	}
	return gzipOf(packed)
}

// withDirectories returns the files with all directories in which they are, each before what is in it.
func withDirectories(files []file) (all []file) {
	there := map[string]bool{".": true}
	var enter func(directory string)
	enter = func(directory string) {
		if !there[directory] {
			there[directory] = true
			enter(path.Dir(directory))
			all = append(all, file{path: directory + "/", mode: 0o755})
		}
	}
	for _, f := range files {
		enter(path.Dir(f.path))
		all = append(all, f)
	}
	return all
}

func sha256Of(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
