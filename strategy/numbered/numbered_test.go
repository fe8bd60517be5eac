package numbered

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// names is the document that the tests store: a list of names.
type names struct {
	Names []string `json:"names"`
}

func (n names) Validate() error {
	if slices.Contains(n.Names, "bad") {
		return errors.New("a bad name")
	}
	return nil
}

var store = Store[names]{Prefix: layout.Controls, Key: layout.ControlKey, Most: 1000}

// adding returns a change that adds a name, unless the document has it already.
func adding(name string) func(names, uint64) (names, bool) {
	return func(current names, _ uint64) (names, bool) {
		return names{append(slices.Clone(current.Names), name)}, !slices.Contains(current.Names, name)
	}
}

func TestPublish(t *testing.T) {
	bucket := countblob.New(memblob.New())
	if document, version, err := store.Newest(t.Context(), bucket); len(document.Names) != 0 || version != 0 || err != nil {
		t.Fatalf("of nothing: %v, version %d, %v", document, version, err)
	}
	if n := bucket.Counts(); n.List != 1 || n.Get != 0 {
		t.Errorf("%d LIST and %d GET to find nothing, want 1 and 0", n.List, n.Get)
	}
	for i, step := range []struct {
		add     string
		version uint64
		want    []string
	}{{"a", 1, []string{"a"}}, {"a", 1, []string{"a"}}, {"b", 2, []string{"a", "b"}}, {"a", 2, []string{"a", "b"}}} {
		published, version, err := store.Publish(t.Context(), bucket, adding(step.add))
		if err != nil || version != step.version {
			t.Fatalf("step %d: version %d, %v; want %d", i, version, err, step.version)
		}
		newest, found, err := store.Newest(t.Context(), bucket)
		if err != nil || found != version {
			t.Fatalf("step %d: version %d is the newest, %v; want %d", i, found, err, version)
		}
		for _, got := range []names{published, newest} {
			if diff := cmp.Diff(names{step.want}, got); diff != "" {
				t.Errorf("step %d (-want +got):\n%s", i, diff)
			}
		}
	}
	if _, _, err := store.Publish(t.Context(), bucket, adding("bad")); err == nil || err.Error() != "cannot publish controls/000000000003.json: a bad name" {
		t.Errorf("an invalid document: %v", err)
	}
	if _, _, err := store.Publish(t.Context(), bucket, adding(strings.Repeat("x", 1000))); err == nil || !strings.Contains(err.Error(), "bytes, more than 1000") {
		t.Errorf("a document that is too long: %v", err)
	}
}

func TestCreate(t *testing.T) {
	bucket := memblob.New()
	for _, name := range []string{"a", "a"} {
		if err := store.Create(t.Context(), bucket, 7, names{[]string{name}}); err != nil {
			t.Errorf("the same document again: %v", err)
		}
	}
	if err := store.Create(t.Context(), bucket, 7, names{}); !errors.Is(err, blob.ErrExists) {
		t.Errorf("another document under one number: %v, want %v", err, blob.ErrExists)
	}
}

// TestPublishersRace lets many publishers add one name each, all at the same time. Half of the
// bucket's calls fail, before or after they take effect. A publisher that gets an error tries
// again. No name may be lost, and none may be stored twice.
func TestPublishersRace(t *testing.T) {
	inner := memblob.New()
	bucket := faultblob.New(inner, func(c faultblob.Call) faultblob.Fault {
		dice := rand.New(rand.NewPCG(uint64(c.Number), 1))
		return []faultblob.Fault{faultblob.None, faultblob.None, faultblob.Before, faultblob.After}[dice.IntN(4)]
	})
	const publishers = 12
	var all sync.WaitGroup
	for i := range publishers {
		all.Go(func() {
			for {
				_, _, err := store.Publish(t.Context(), bucket, adding(fmt.Sprint(i)))
				if err == nil {
					return
				}
				if !errors.Is(err, blob.ErrRetryable) {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	newest, version, err := store.Newest(t.Context(), inner)
	if err != nil || version != publishers {
		t.Fatalf("version %d, %v; want %d", version, err, publishers)
	}
	slices.Sort(newest.Names)
	if distinct := slices.Compact(slices.Clone(newest.Names)); len(newest.Names) != publishers || len(distinct) != publishers {
		t.Errorf("names %q, want %d", newest.Names, publishers)
	}
}

// TestAlwaysSlower: Publish gives up when other publishers take every number first.
func TestAlwaysSlower(t *testing.T) {
	bucket := memblob.New()
	_, _, err := store.Publish(t.Context(), bucket, func(_ names, version uint64) (names, bool) {
		if err := store.Create(t.Context(), bucket, version, names{[]string{"theirs"}}); err != nil {
			t.Fatal(err)
		}
		return names{[]string{"ours"}}, true
	})
	if err == nil || !strings.Contains(err.Error(), "others were faster 100 times") {
		t.Errorf("error is %v", err)
	}
}

func TestNewestOfWhatIsThere(t *testing.T) {
	for name, test := range map[string]struct {
		objects map[string]string // objects by the part of their keys behind the prefix
		want    string            // text in the error; without an error, the version
	}{
		"a file that somebody left":    {map[string]string{"000000000001.json": `{}`, "2.json": "?", "notes.txt": "?", "x/000000000009.json": "?"}, "1"},
		"the highest":                  {map[string]string{"000000000009.json": `{}`, "000000000010.json": `{"names":["a"]}`}, "10"},
		"the highest is damaged":       {map[string]string{"000000000001.json": `{}`, "000000000002.json": `{`}, "1"},
		"the highest is of later":      {map[string]string{"000000000001.json": `{}`, "000000000002.json": string(layout.Seal([]byte(`{"names":"a"}`)))}, `cannot read controls/000000000002.json: json: cannot unmarshal string`},
		"a field that is not known":    {map[string]string{"000000000001.json": `{"also":1}`}, `unknown field "also"`},
		"two documents":                {map[string]string{"000000000001.json": `{} {}`}, "invalid character '{' after top-level value"},
		"a document that is not valid": {map[string]string{"000000000001.json": `{"names":["bad"]}`}, "a bad name"},
		"a document that is too long":  {map[string]string{"000000000001.json": `{}` + strings.Repeat(" ", 999)}, "1001 bytes, more than 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			bucket := memblob.New()
			for key, content := range test.objects {
				if err := bucket.Create(t.Context(), layout.Controls+key, []byte(content)); err != nil {
					t.Fatal(err)
				}
			}
			_, version, err := store.Newest(t.Context(), bucket)
			if err == nil {
				if got := fmt.Sprint(version); got != test.want {
					t.Errorf("version %s, want %s", got, test.want)
				}
			} else if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
	failing := faultblob.New(memblob.New(), func(faultblob.Call) faultblob.Fault { return faultblob.Before })
	if _, _, err := store.Newest(t.Context(), failing); !errors.Is(err, blob.ErrRetryable) {
		t.Errorf("of a bucket that fails: %v", err)
	}
}
