package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestImage makes an image and reads it as a tool for images does: from the index to the files, with the
// digest of each blob checked.
func TestImage(t *testing.T) {
	t.Parallel()
	files := []file{{path: "data/", mode: 0o755, owner: 65532}, {path: "program", mode: 0o755, content: []byte("binary")}}
	i := image{date: undated}
	for _, architecture := range []string{"amd64", "arm64"} {
		if err := i.add(platform{architecture, "linux"}, files, "/program"); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := i.archive("v1")
	if err != nil {
		t.Fatal(err)
	}
	members := make(map[string][]byte)
	for _, f := range untar(t, archive) {
		members[f.path] = f.content
	}
	read := func(d descriptor) []byte {
		t.Helper()
		content := members["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if "sha256:"+sha256Of(content) != d.Digest || len(content) != d.Size {
			t.Fatalf("blob %+v: %d bytes", d, len(content))
		}
		return content
	}
	type list struct{ Manifests []descriptor }
	tagged := decode[list](t, members["index.json"]).Manifests
	if len(tagged) != 1 || tagged[0].Annotations["org.opencontainers.image.ref.name"] != "v1" || tagged[0].MediaType != indexType {
		t.Fatalf("the index names %+v", tagged)
	}
	var platforms []string
	for _, made := range decode[list](t, read(tagged[0])).Manifests {
		platforms = append(platforms, made.Platform.OS+"/"+made.Platform.Architecture)
		manifest := decode[struct {
			Config descriptor
			Layers []descriptor
		}](t, read(made))
		config := decode[struct {
			Architecture string
			Config       struct{ Entrypoint []string }
			RootFS       struct {
				IDs []string `json:"diff_ids"`
			}
		}](t, read(manifest.Config))
		plain := unzip(t, read(manifest.Layers[0]))
		if config.Architecture != made.Platform.Architecture || config.Config.Entrypoint[0] != "/program" || config.RootFS.IDs[0] != "sha256:"+sha256Of(plain) {
			t.Errorf("config %+v", config)
		}
		if diff := cmp.Diff(files, untar(t, plain), cmp.AllowUnexported(file{})); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func decode[T any](t *testing.T, content []byte) (value T) {
	t.Helper()
	if err := json.Unmarshal(content, &value); err != nil {
		t.Fatal(err)
	}
	return value
}
