package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLayout writes an image and reads it as a tool for images does: from the index to the files, with the
// digest of each blob checked. Writing it again must make the same bytes.
func TestLayout(t *testing.T) {
	t.Parallel()
	files := []file{{path: "data/", mode: 0o755, owner: 65532}, {path: "program", mode: 0o755, content: []byte("binary")}}
	write := func() string {
		l := layout{t.TempDir()}
		var images []descriptor
		for _, architecture := range []string{"amd64", "arm64"} {
			image, err := l.image(platform{architecture, "linux"}, files, "/program")
			if err != nil {
				t.Fatal(err)
			}
			images = append(images, image)
		}
		if err := l.finish("v1", images); err != nil {
			t.Fatal(err)
		}
		return l.dir
	}
	dir := write()
	read := func(d descriptor) []byte {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(dir, "blobs", "sha256", strings.TrimPrefix(d.Digest, "sha256:")))
		if err != nil || "sha256:"+sha256Of(content) != d.Digest || len(content) != d.Size {
			t.Fatalf("blob %+v: %d bytes, %v", d, len(content), err)
		}
		return content
	}
	type list struct{ Manifests []descriptor }
	content, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	tagged := decode[list](t, content).Manifests
	if len(tagged) != 1 || tagged[0].Annotations["org.opencontainers.image.ref.name"] != "v1" || tagged[0].MediaType != indexType {
		t.Fatalf("the index names %+v", tagged)
	}
	var platforms []string
	for _, image := range decode[list](t, read(tagged[0])).Manifests {
		platforms = append(platforms, image.Platform.OS+"/"+image.Platform.Architecture)
		manifest := decode[struct {
			Config descriptor
			Layers []descriptor
		}](t, read(image))
		config := decode[struct {
			Architecture string
			Config       struct{ Entrypoint []string }
			RootFS       struct {
				IDs []string `json:"diff_ids"`
			}
		}](t, read(manifest.Config))
		plain, got := unpack(t, read(manifest.Layers[0]))
		if config.Architecture != image.Platform.Architecture || config.Config.Entrypoint[0] != "/program" || config.RootFS.IDs[0] != "sha256:"+sha256Of(plain) {
			t.Errorf("config %+v", config)
		}
		if diff := cmp.Diff(files, got, cmp.AllowUnexported(file{})); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
	again, err := os.ReadFile(filepath.Join(write(), "index.json"))
	if err != nil || string(again) != string(content) {
		t.Errorf("the same files make another image: %v", err)
	}
}

func decode[T any](t *testing.T, content []byte) (value T) {
	t.Helper()
	if err := json.Unmarshal(content, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// unpack returns the tar archive of a layer, and the files in it.
func unpack(t *testing.T, layer []byte) (plain []byte, files []file) {
	t.Helper()
	unzipped, err := gzip.NewReader(strings.NewReader(string(layer)))
	if err == nil {
		plain, err = io.ReadAll(unzipped)
	}
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(strings.NewReader(string(plain))); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return plain, files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		f := file{path: header.Name, mode: header.Mode, owner: header.Uid}
		if len(content) > 0 {
			f.content = content
		}
		files = append(files, f)
	}
}
