package collection

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

func TestPublish(t *testing.T) {
	bucket := memblob.New()
	if all, err := LoadAll(t.Context(), bucket); len(all) != 0 || err != nil {
		t.Fatalf("empty bucket: %v, %v", all, err)
	}
	narrow := docs(Seed{"https://example.org/", Host, 2})
	wide := narrow.With([]Seed{{"https://example.org/", Site, Unlimited}})
	for _, step := range []struct {
		publish Collection
		want    uint64
	}{{narrow, 1}, {narrow, 1}, {wide, 2}, {wide, 2}, {narrow, 3}} {
		got, err := Publish(t.Context(), bucket, step.publish)
		if err != nil || got.Version != step.want {
			t.Fatalf("Publish: version %d, %v; want %d", got.Version, err, step.want)
		}
		loaded, err := LoadAll(t.Context(), bucket)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Collection{got}, loaded); diff != "" {
			t.Errorf("loaded (-published +got):\n%s", diff)
		}
	}
	if _, err := Publish(t.Context(), bucket, docs(Seed{"hello world", Host, 0})); err == nil || !strings.Contains(err.Error(), `seed "hello world" is no web address`) {
		t.Errorf("an invalid collection: %v", err)
	}
}

// TestStoredForm reads documents of all formats, with few fields and with all, and writes each
// in the newest format.
func TestStoredForm(t *testing.T) {
	const begin = `{"name":"docs","version":3,"seeds":[{"url":"https://example.org/","scope":"host","depth":-1}],`
	const lists = `"include":["*"],"exclude":["*.zip"],"drop_parameters":[],"sitemaps":["https://example.org/s.xml"],`
	const rest = `"host_pages":5,"pattern_pages":6,"schedule":"every 6h","language":"de",`
	few := docs(Seed{"https://example.org/", Host, Unlimited})
	few.Version, few.HostConnections, few.Pages = 3, 2, 7
	all := few
	all.Include, all.Exclude, all.DropParameters = []string{"*"}, []string{"*.zip"}, []string{}
	all.Sitemaps, all.Allow = []string{"https://example.org/s.xml"}, []string{"::1"}
	all.Connections, all.HostPages, all.PatternPages = 30, 5, 6
	all.Schedule, all.Language = "every 6h", "de"
	all.Topic = &Topic{Words: []string{"a"}, Pages: []string{"https://example.org/b"}, Texts: []string{"c"}, Threshold: 0.3}
	for _, c := range []struct {
		want             Collection
		former, readable string
	}{
		{few,
			begin + `"delay_ms":1000,"connections":2,"stop_at":7,"agent":"ExampleBot/1.0"}`,
			begin + `"delay":"1s","host_connections":2,"pages":7,"agent":"ExampleBot/1.0"}`},
		{all,
			begin + `"delay_ms":1000,"connections":2,"stop_at":7,"agent":"ExampleBot/1.0",` + lists + `"fetches":30,` + rest +
				`"topic":{"words":["a"],"pages":["https://example.org/b"],"texts":["c"],"threshold":0.3},"allow":["::1"]}`,
			begin + `"delay":"1s","host_connections":2,"pages":7,"agent":"ExampleBot/1.0",` + lists + `"connections":30,` + rest +
				`"topic":{"words":["a"],"samples":["https://example.org/b"],"texts":["c"],"threshold":0.3},"allow":["::1"]}`},
	} {
		for _, stored := range []string{c.former, c.readable} {
			got, err := numbered.Decode[Collection]([]byte(stored))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			again, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.readable, string(again)); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
		}
	}
	for _, stored := range []string{
		begin + `"delay_ms":1000,"connections":1,"agent":"a","more":1}`,
		begin + `"delay":"1 sec","host_connections":2,"agent":"a"}`,
		begin + `"delay":"1s","host_connections":2,"agent":"a","topic":{"word":[]}}`,
	} {
		if got, err := numbered.Decode[Collection]([]byte(stored)); err == nil {
			t.Errorf("%s was read as %+v", stored, got)
		}
	}
}

// TestNames: a setting has the same name in a collection file and in the stored document.
func TestNames(t *testing.T) {
	fields := reflect.TypeFor[Collection]()
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		switch name {
		case "version", "again", "renew": // set by the program
			continue
		}
		_, err := Parse("a.toml", []byte(name+" = {}\n"), beside)
		if err == nil || strings.Contains(err.Error(), name+": unknown") {
			t.Errorf("%s is unknown in a file: %v", name, err)
		}
	}
}

func TestLoadAll(t *testing.T) {
	bucket := memblob.New()
	var want []Collection
	for _, name := range []string{"a", "a-b", "b"} { // the key of "a-b" sorts before that of "a"
		for version := range 3 {
			c := docs(Seed{URL: "https://docs.example/", Scope: Host, Depth: Unlimited})
			c.Name, c.Pages = name, int64(version)
			published, err := Publish(t.Context(), bucket, c)
			if err != nil {
				t.Fatal(err)
			}
			if version == 2 {
				want = append(want, published)
			}
		}
	}
	if err := bucket.Create(t.Context(), layout.Collections+"a/notes.txt", nil); err != nil {
		t.Fatal(err)
	}
	got, err := LoadAll(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("LoadAll (-want +got):\n%s", diff)
	}
}

func TestPublishersRace(t *testing.T) {
	bucket := memblob.New()
	const publishers = 20
	versions := make([]uint64, publishers)
	var all sync.WaitGroup
	for i := range publishers {
		all.Go(func() {
			published, err := Publish(t.Context(), bucket, docs(Seed{fmt.Sprintf("https://example.org/%d", i), Host, 0}))
			if err != nil {
				t.Error(err)
			}
			versions[i] = published.Version
		})
	}
	all.Wait()
	seen := map[uint64]bool{}
	for i, version := range versions {
		if version < 1 || version > publishers || seen[version] {
			t.Errorf("publisher %d got version %d of %v", i, version, versions)
		}
		seen[version] = true
	}
}

// TestChanges checks that no change is lost when several publishers change a collection at the same time,
// and that the first change after a removal begins with an empty collection.
func TestChanges(t *testing.T) {
	bucket := memblob.New()
	add := func(path string) {
		seed := Seed{"https://example.org/" + path, Host, 0}
		_, err := Change(t.Context(), bucket, "docs", func(current Collection) (Collection, error) {
			next := docs(seed)
			next.Seeds = current.With([]Seed{seed}).Seeds
			return next, nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	seeds := func() (urls []string) {
		all, err := LoadAll(t.Context(), bucket)
		if err != nil || len(all) != 1 {
			t.Fatalf("%d collections, %v", len(all), err)
		}
		for _, seed := range all[0].Seeds {
			urls = append(urls, strings.TrimPrefix(seed.URL, "https://example.org/"))
		}
		slices.Sort(urls)
		return urls
	}
	var all sync.WaitGroup
	for _, path := range []string{"a", "b", "c", "d", "e"} {
		all.Go(func() { add(path) })
	}
	all.Wait()
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "e"}, seeds()); diff != "" {
		t.Errorf("seeds (-want +got):\n%s", diff)
	}
	if _, err := Remove(t.Context(), bucket, "docs"); err != nil {
		t.Fatal(err)
	}
	add("f")
	if diff := cmp.Diff([]string{"f"}, seeds()); diff != "" {
		t.Errorf("seeds after the removal (-want +got):\n%s", diff)
	}
	refused := errors.New("refused")
	if _, err := Change(t.Context(), bucket, "docs", func(c Collection) (Collection, error) { return c, refused }); !errors.Is(err, refused) {
		t.Errorf("Change = %v, want the error of the function", err)
	}
}

func TestDamagedCollection(t *testing.T) {
	c := docs(Seed{"https://example.org/", Host, 0})
	c.Version = 1
	good, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"cut short":       string(good[:len(good)-1]),
		"two documents":   string(good) + string(good),
		"unknown field":   strings.Replace(string(good), `"name"`, `"also":1,"name"`, 1),
		"other version":   strings.Replace(string(good), `"version":1`, `"version":2`, 1),
		"other name":      strings.Replace(string(good), `"docs"`, `"dogs"`, 1),
		"bad seed":        strings.Replace(string(good), "https:", "gopher:", 1),
		"longer than cap": string(good) + strings.Repeat(" ", MaxBytes),
	} {
		bucket := memblob.New()
		key := layout.CollectionKey("docs", 1)
		if err := bucket.Create(t.Context(), key, []byte(content)); err != nil {
			t.Fatal(err)
		}
		all, faults, err := Find(t.Context(), bucket)
		if strings.HasPrefix(name, "other") { // the version is not damaged
			if err == nil || !strings.Contains(err.Error(), key) {
				t.Errorf("%s: %+v, %v", name, all, err)
			}
			continue
		}
		if err != nil || len(all) != 0 || len(faults.Damaged) != 1 || faults.Damaged[0].Key != key {
			t.Errorf("%s: %+v, %+v, %v", name, all, faults, err)
		}
	}
}

// FuzzCollection proves that a document that was read is valid, and is the same after writing
// and reading it again.
func FuzzCollection(f *testing.F) {
	content, err := json.Marshal(docs(Seed{"https://example.org/a/b?c", Prefix, 3}, Seed{"localhost:8000", Any, Unlimited}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := numbered.Decode[Collection](content)
		if err != nil {
			return
		}
		again, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if c2, err := numbered.Decode[Collection](again); err != nil || !cmp.Equal(c, c2) {
			t.Fatalf("decoded %+v, again %+v, %v", c, c2, err)
		}
		same := c.With(c.Seeds)
		if diff := cmp.Diff(same, same.With(c.Seeds)); diff != "" {
			t.Fatalf("adding the same seeds twice:\n%s", diff)
		}
	})
}
