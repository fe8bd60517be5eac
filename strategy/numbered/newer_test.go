package numbered

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// nested is a document with fields of all kinds in which unknown fields may be.
type nested struct {
	Name  string         `json:"name"`
	List  []member       `json:"list,omitempty"`
	Inner *member        `json:"inner,omitempty"`
	Map   map[string]int `json:"map,omitempty"`
	embedded
	hidden int
}

type member struct {
	Deep  *member `json:"deep"`
	Plain int
}

type embedded struct {
	Also bool `json:"also"`
}

func (nested) Validate() error  { return nil }
func (nested) Former() []string { return []string{"inner.old"} }

func TestUnknown(t *testing.T) {
	for object, want := range map[string]string{
		`{"name":"a","also":true,"NAME":"b"}`:                             "",
		`{"list":[{"deep":{"deep":null,"Plain":1}}],"map":{"x":1}}`:       "",
		`{"inner":{"old":1}}`:                                             "",
		`{"old":1}`:                                                       "old",
		`{"name":{"first":"a"}}`:                                          "",
		`{"new":{"name":1},"hidden":2,"also":false}`:                      "hidden new",
		`{"list":[{"x":1},{"x":2},{"deep":{"y":1}}],"inner":{"deep":[]}}`: "list.deep.y list.x",
	} {
		got, err := unknown[nested]([]byte(object))
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", object, err, diff)
		}
	}
	_ = nested{hidden: 1}
}

// TestNewerDocument: a document of a newer program is read, and a change of it is refused, because it would
// lose what the newer program has written.
func TestNewerDocument(t *testing.T) {
	bucket := memblob.New()
	content := layout.Seal([]byte(`{"names":["a"],"more":{"names":1}}`))
	if err := bucket.Create(t.Context(), layout.ControlKey(1), content); err != nil {
		t.Fatal(err)
	}
	const want = "controls/000000000001.json has fields that this program does not know, and ignores: more; use the newer program that wrote it"
	found, err := store.Find(t.Context(), bucket)
	if err != nil || !cmp.Equal(found.Document, names{[]string{"a"}}) || !cmp.Equal(found.Ignored, []string{want}) {
		t.Errorf("found %+v, %v", found, err)
	}
	var kept Kept[names]
	for range 2 {
		err := store.Walk(t.Context(), bucket, &kept, func(v Version[names]) bool {
			if !v.IsWhole || v.Ignored != want {
				t.Errorf("walked to %+v", v)
			}
			return false
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, version, err := store.Publish(t.Context(), bucket, adding("a")); err != nil || version != 1 {
		t.Errorf("an unchanged document: version %d, %v", version, err)
	}
	if _, _, err := store.Publish(t.Context(), bucket, adding("b")); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("a changed document: %v", err)
	}
	if _, found, err := blob.Find(t.Context(), bucket, layout.ControlKey(2)); found || err != nil {
		t.Errorf("a next version is there: %v, %v", found, err)
	}
}
