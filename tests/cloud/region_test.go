package cloud

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/command/repair"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/s3blob"
	"github.com/bucketsearch/bucketsearch/local/s3"
)

// replica is the name of the bucket in the second region.
const replica = "replica"

// The first region is gone, and some of the newest objects have not reached the replica of its bucket: S3 copies them
// in any order. This is the drill of infra/README.md: the replica is repaired, and a stack is deployed on it. It answers
// from what is there, fetches what is lost, and at the end the bucket is whole. Only older generations of the manifest
// cannot be had again.
func TestSecondRegion(t *testing.T) {
	t.Parallel()
	first, said := start(t, false)
	s := first.crawl(t, said)
	dir := t.TempDir()
	lost := first.replicate(t, dir)
	first.Close()
	asked := s.requests()

	second, said := takeUp(t, dir, replica)
	answered := 0
	for path, word := range s.words {
		found := second.search(t, word)
		if len(found) > 0 && !slices.Equal(found, []string{s.origin + path}) {
			t.Errorf("before the repair, %s: found %q", path, found)
		}
		answered += len(found)
	}
	said.take() // says that segments are missing
	report, err := (&repair.Repairer{Bucket: second.Bucket, Now: time.Now, Log: functionstest.Log()}).Run(t.Context())
	t.Logf("%d of %d pages were found without %q; mended: %q", answered, len(s.words), lost, report.Mended)
	if err != nil {
		t.Fatal(err)
	}
	after := second.finish(t, said, s)
	if s.requests() == asked {
		t.Error("the pages of the lost package were not requested again")
	}
	for _, p := range after.Problems {
		if !strings.HasPrefix(p.Key, layout.Manifests) || !strings.Contains(p.Detail, "lost to history") {
			t.Errorf("problem: %s", p)
		}
	}
}

// replicate copies the objects of the bucket to one in another region, whose object store is below dir. The newest
// package, book and segment are lost, and each of the newest third of all objects is with a probability of one half.
// The result is the keys of those that are lost.
func (c *Cloud) replicate(t *testing.T, dir string) (lost []string) {
	t.Helper()
	server, err := s3.Start(t.Context(), storeCommand(t), s3.Options{
		Dir: filepath.Join(dir, "objects"), Bucket: replica, Listen: "127.0.0.1:0", AccessKey: accessKey, SecretKey: secretKey,
	}, s3.Events{Stored: func(string, int64) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	to, err := s3blob.Open(s3blob.Config{Endpoint: server.Endpoint, Bucket: replica, AccessKey: accessKey, SecretKey: secretKey})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := blob.List(t.Context(), c.Bucket, "")
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(objects, func(a, b blob.Object) int { return b.Modified.Compare(a.Modified) })
	must := map[string]bool{layout.Packages: true, layout.Books: true, layout.Segments: true}
	random := rand.New(rand.NewPCG(1, 2))
	for i, o := range objects { // the newest first
		kind, _, _ := strings.Cut(o.Key, "/")
		if must[kind+"/"] || i < len(objects)/3 && random.IntN(2) == 0 {
			delete(must, kind+"/")
			lost = append(lost, o.Key)
			continue
		}
		content, err := c.Bucket.Get(t.Context(), o.Key, blob.Range{})
		if err == nil {
			err = to.Create(t.Context(), o.Key, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return lost
}
