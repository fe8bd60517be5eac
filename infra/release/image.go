package main

import (
	"encoding/json"
	"fmt"
	"time"
)

// descriptor refers to a blob of an OCI image layout (OCI Image Format Specification 1.1, descriptor.md).
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// The media types of the blobs.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// object is an object of JSON.
type object map[string]any

// image is an OCI image layout: blobs, and an index that names one image for several platforms.
type image struct {
	date      time.Time // of all files in it
	blobs     []file
	platforms []descriptor
}

// blob adds a blob, and returns its descriptor.
func (i *image) blob(mediaType string, content []byte) descriptor {
	digest := sha256Of(content)
	i.blobs = append(i.blobs, file{path: "blobs/sha256/" + digest, mode: 0o644, content: content})
	return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(content)}
}

// document adds a value as a blob of JSON, and returns its descriptor.
func (i *image) document(mediaType string, value any) (descriptor, error) {
	content, err := json.Marshal(value)
	return i.blob(mediaType, content), err
}

// add adds the image of one platform, which has the files. Its command is the program at the path entry.
func (i *image) add(on platform, files []file, entry string) error {
	plain, err := tarOf(files, i.date)
	if err != nil {
		return err
	}
	packed, err := gzipOf(plain)
	if err != nil {
		return err
	}
	layer := i.blob(layerType, packed)
	config, err := i.document(configType, object{
		"architecture": on.Architecture, "os": on.OS, "created": i.date,
		"config": object{"Entrypoint": []string{entry}, "User": fmt.Sprintf("%d:%d", user, user), "WorkingDir": "/"},
		"rootfs": object{"type": "layers", "diff_ids": []string{"sha256:" + sha256Of(plain)}},
	})
	if err != nil {
		return err
	}
	made, err := i.document(manifestType, object{"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []descriptor{layer}})
	made.Platform = &on
	i.platforms = append(i.platforms, made)
	return err
}

// archive returns the layout as a tar archive. Its image, with the tag, is that of all platforms.
func (i *image) archive(tag string) ([]byte, error) {
	all, err := i.document(indexType, object{"schemaVersion": 2, "mediaType": indexType, "manifests": i.platforms})
	if err != nil {
		return nil, err
	}
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": tag}
	index, err := json.Marshal(object{"schemaVersion": 2, "mediaType": indexType, "manifests": []descriptor{all}})
	if err != nil {
		return nil, err
	}
	return tarOf(withDirectories(append([]file{
		{path: "oci-layout", mode: 0o644, content: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{path: "index.json", mode: 0o644, content: index},
	}, i.blobs...)), i.date)
}
