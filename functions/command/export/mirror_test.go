package export

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

const (
	site      = "http://host0.example.org/"
	shownPage = `<!DOCTYPE html><meta charset=utf-8><title>é</title><base href="/dir/"><link rel=stylesheet href="../s.css?v=1" integrity=x>
<a href='a#part'>A</a><a href="#here">up</a><a href="/old">moved</a><a href=//host0.example.org/gone>gone</a>
<a href="http://elsewhere.example/">other</a><a href="mailto:a@b.example">mail</a><img src="/Pic.png" srcset="/pic.png 2x"><img src=none.png>`
	wantPage = `<!DOCTYPE html><meta charset=utf-8><title>é</title><base href=""><link rel=stylesheet href="s.css_v=1-HASH.css" data-integrity=x>
<a href='dir/a.html#part'>A</a><a href="http://host0.example.org/dir/#here">up</a><a href="dir/a.html">moved</a><a href="http://host0.example.org/gone">gone</a>
<a href="http://elsewhere.example/">other</a><a href="mailto:a@b.example">mail</a><img src="Pic.png" srcset="pic-HASH.png 2x"><img src="http://host0.example.org/dir/none.png">`
)

// mirrorBucket returns a bucket with a page, its assets, and the pages to which it links.
func mirrorBucket(t *testing.T) (*memblob.Bucket, *settings.Settings) {
	t.Helper()
	bucket := memblob.New()
	s := functionstest.Publish(t, bucket, 1, nil, site)
	var objects []webobject.Object
	for _, page := range [][3]string{
		{"", "text/html", shownPage},
		{"dir/a", "text/html; charset=utf-8", "<p id=part><a href=../>back</a> <a href='#part'>here</a> <a href=a>itself</a>"},
		{"s.css?v=1", "text/css", `@import url(//host1.example.org/t.css); body{background:url("Pic.png")} b{src:url(none.woff)}`},
		{"Pic.png", "image/png", "PNG"},
		{"pic.png", "image/png", "png"},
	} {
		o := functionstest.Page(layout.Version{Epoch: 1, Token: 1}, site+page[0])
		o.MIME, o.Data = page[1], []byte(page[2])
		objects = append(objects, o)
	}
	listed, outcomes := functionstest.Package(t, bucket, 0, objects...)
	moved := functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 2}, site+"old", book.Skipped)
	moved.Reason, moved.Detail = membership.Redirect, "to "+site+"dir/a"
	for i := range outcomes {
		outcomes[i].Asset = i > 1
	}
	functionstest.Learn(t, bucket, 0, book.Book{Outcomes: append(outcomes, moved)}, listed)
	return bucket, s
}

// files returns the contents of the files of a folder, by their names. Hashes in the names are
// replaced by HASH.
func files(t *testing.T, root string) map[string]string {
	t.Helper()
	unhashed := strings.NewReplacer(hashOf(site+"s.css?v=1"), "HASH", hashOf(site+"pic.png"), "HASH")
	all := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		all[unhashed.Replace(filepath.ToSlash(name))] = unhashed.Replace(string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var wantMirror = map[string]string{
	"host0.example.org/index.html":         wantPage,
	"host0.example.org/dir/a.html":         "<p id=part><a href=\"../index.html\">back</a> <a href='#part'>here</a> <a href=\"a.html\">itself</a>",
	"host0.example.org/s.css_v=1-HASH.css": `@import url(http://host1.example.org/t.css); body{background:url("Pic.png")} b{src:url(http://host0.example.org/none.woff)}`,
	"host0.example.org/Pic.png":            "PNG",
	"host0.example.org/pic-HASH.png":       "png",
	"index.html":                           "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Mirror</title>\n<meta http-equiv=\"refresh\" content=\"0; url=host0.example.org/index.html\">\n</head><body><ul>\n<li><a href=\"host0.example.org/index.html\">http://host0.example.org/</a></li>\n</ul></body></html>\n",
}

func TestMirror(t *testing.T) {
	bucket, s := mirrorBucket(t)
	root := filepath.Join(t.TempDir(), "mirror")
	report, err := Task{Format: Mirror, Path: root, At: later}.Run(t.Context(), bucket, s)
	if err != nil || report.Pages != 5 {
		t.Fatal(report, err)
	}
	if diff := cmp.Diff(wantMirror, files(t, root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if content := run(t, Task{Format: "jsonl", Path: filepath.Join(t.TempDir(), "x"), At: later}, bucket, s); strings.Count(content, "\n") != 2 {
		t.Errorf("assets are exported as pages with text: %s", content)
	}
}

// TestMirrorGoesOn makes an export as a mirror fail: by a fault of each request in turn, by a
// cancelled context and by a full disk. A later run must complete the mirror.
func TestMirrorGoesOn(t *testing.T) {
	bucket, s := mirrorBucket(t)
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		task := Task{Format: Mirror, Path: filepath.Join(t.TempDir(), "mirror"), At: later}
		if _, err := task.Run(t.Context(), faultblob.New(bucket, decide), s); err != nil {
			if _, err := task.Run(t.Context(), bucket, s); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(wantMirror, files(t, task.Path)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	task := Task{Format: Mirror, Path: filepath.Join(t.TempDir(), "mirror"), At: later, Progress: func(int, int) { cancel() }}
	if _, err := task.Run(ctx, bucket, s); err == nil {
		t.Fatal("was not interrupted")
	}
	full := filepath.Join(task.Path, "host0.example.org", "Pic.png")
	if err := os.Symlink("/dev/full", full); err != nil {
		t.Fatal(err)
	}
	if _, err := task.Run(t.Context(), bucket, s); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("full disk: %v", err)
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	if report, err := task.Run(t.Context(), bucket, s); err != nil || report.Pages != 5 {
		t.Fatal(report, err)
	}
	if diff := cmp.Diff(wantMirror, files(t, task.Path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	hash := func(url string) string { return "-" + hashOf(url) }
	var n names
	want := make(map[layout.Identity]string)
	for _, p := range []struct{ url, media, want string }{
		{site, "text/html", "host0.example.org/index.html"},
		{site + "index.html", "text/html", "host0.example.org/index" + hash(site+"index.html") + ".html"},
		{site + "a", "text/html; charset=x", "host0.example.org/a.html"},
		{site + "a.html", "text/html", "host0.example.org/a" + hash(site+"a.html") + ".html"},
		{site + "a.png/b", "image/png", "host0.example.org/a.png/b.png"},
		{site + "a.png", "image/png", "host0.example.org/a" + hash(site+"a.png") + ".png"}, // a folder has its name
		{site + "c.php", "text/html", "host0.example.org/c.php.html"},
		{site + "d.html", "image/gif", "host0.example.org/d.html.gif"},
		{site + "e.xyz", "application/x-unknown", "host0.example.org/e.xyz"},
		{site + "f.html", "application/x-unknown", "host0.example.org/f.html.bin"},
		{site + "con.html", "text/html", "host0.example.org/_con" + hash(site+"con.html") + ".html"},
		{site + "%C3%89", "text/html", "host0.example.org/É.html"},
		{site + "e%CC%81", "text/html", "host0.example.org/e\u0301" + hash(site+"e%CC%81") + ".html"},
	} {
		n.add(p.url, p.media)
		want[layout.IdentityOf(p.url)] = p.want
	}
	if diff := cmp.Diff(want, n.assign()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
