package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

// descriptor refers to a blob of an OCI image layout (OCI Image Format Specification 1.1, descriptor.md).
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// platform is a kind of machine on which an image runs.
type platform struct {
	Architecture string `json:"architecture"` // as GOARCH names it
	OS           string `json:"os"`
}

// The media types of the blobs.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// layout is an OCI image layout: a directory with blobs, and an index that names one image.
type layout struct{ dir string }

// blob stores a blob, and returns its descriptor.
func (l layout) blob(mediaType string, content []byte) (descriptor, error) {
	digest := sha256Of(content)
	path := filepath.Join(l.dir, "blobs", "sha256", digest)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return descriptor{}, err
	}
	return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(content)}, os.WriteFile(path, content, 0o644)
}

// document stores a value as a blob of JSON, and returns its descriptor.
func (l layout) document(mediaType string, value any) (descriptor, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return descriptor{}, err
	}
	return l.blob(mediaType, content)
}

// object is an object of JSON.
type object map[string]any

// image stores the image of one platform, which has the files, and returns its descriptor. Its command is
// the program at the path entry.
func (l layout) image(on platform, files []file, entry string) (descriptor, error) {
	plain, err := tarOf(files)
	if err != nil {
		return descriptor{}, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed) // without a time, so that the same files make the same bytes
	if _, err := w.Write(plain); err != nil {
		return descriptor{}, err
	}
	if err := w.Close(); err != nil {
		return descriptor{}, err
	}
	layer, err := l.blob(layerType, packed.Bytes())
	if err != nil {
		return descriptor{}, err
	}
	config, err := l.document(configType, object{
		"architecture": on.Architecture, "os": on.OS,
		"config": object{"Entrypoint": []string{entry}, "User": "65532:65532", "WorkingDir": "/"},
		"rootfs": object{"type": "layers", "diff_ids": []string{"sha256:" + sha256Of(plain)}},
	})
	if err != nil {
		return descriptor{}, err
	}
	made, err := l.document(manifestType, object{"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []descriptor{layer}})
	made.Platform = &on
	return made, err
}

// finish completes the layout: its image, with the tag, is that of all the platforms.
func (l layout) finish(tag string, platforms []descriptor) error {
	all, err := l.document(indexType, object{"schemaVersion": 2, "mediaType": indexType, "manifests": platforms})
	if err != nil {
		return err
	}
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": tag}
	for name, value := range map[string]object{
		"index.json": {"schemaVersion": 2, "mediaType": indexType, "manifests": []descriptor{all}},
		"oci-layout": {"imageLayoutVersion": "1.0.0"},
	} {
		content, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(l.dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// file is a file or a directory of an image.
type file struct {
	path    string // without a slash at its beginning; a directory ends with one
	mode    int64
	owner   int
	content []byte
}

// tarOf returns a tar archive of the files, in their order, and without times.
func tarOf(files []file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		header := &tar.Header{Name: f.path, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.content)), Typeflag: tar.TypeReg}
		if f.path[len(f.path)-1] == '/' {
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

func sha256Of(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
