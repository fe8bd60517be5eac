package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRun makes judged sets from a manual in two languages. A heading that is the same in both
// languages is not translated yet, and must be left out.
func TestRun(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{
		"de-DE/a.html": `<h2 class="title">1.2. Titel</h2><h3 class="title">1.2.1. Die  <em>Regeln</em></h3><h4 class="title">Not yet</h4><h3>Menü</h3>`,
		"de-DE/b.html": `<h3 class="title">B.1.1. Die Regeln</h3>`,
		"en-US/a.html": `<h3 class="title">1.2.1. The rules</h3><h4 class="title">Not yet</h4>`,
	} {
		path := filepath.Join(in, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(in, "http://a.example/", out); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, name := range []string{"de-DE/queries.tsv", "de-DE/qrels.tsv", "en-US/queries.tsv", "en-US/qrels.tsv"} {
		content, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(content)
	}
	if diff := cmp.Diff(map[string]string{
		"de-DE/queries.tsv": "0\tDie Regeln\n",
		"de-DE/qrels.tsv":   "0\thttp://a.example/de-DE/a.html\t1\n0\thttp://a.example/de-DE/b.html\t1\n",
		"en-US/queries.tsv": "0\tThe rules\n",
		"en-US/qrels.tsv":   "0\thttp://a.example/en-US/a.html\t1\n",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
