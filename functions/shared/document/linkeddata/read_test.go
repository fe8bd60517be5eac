package linkeddata

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		objects []Object
		values  []Value
	}{
		"nested": {`{"@context": "https://schema.org", "@type": "Product", "name": "Cup", "brand": {"@type": ["http://schema.org/Brand", "Thing"], "name": "Acme"}, "offers": [{"price": 1.50}]}`,
			[]Object{{Type: "Product", Parent: -1}, {Type: "Brand", Key: "brand"}, {Key: "offers"}},
			[]Value{{0, "name", []byte("Cup")}, {1, "name", []byte("Acme")}, {2, "price", []byte("1.50")}}},
		"type last":      {`[{"schema:name": "a", "@type": "schema:Event"}, {"b": -1, "c": true, "d": null}]`, []Object{{Type: "Event", Parent: -1}, {Parent: -1}}, []Value{{0, "name", []byte("a")}, {1, "b", []byte("-1")}}},
		"escapes":        {`{"a": "\"\\\/\n\t\u00e9\ud83d\ude00\ud83d."}`, []Object{{Parent: -1}}, []Value{{0, "a", []byte("\"\\/\n é😀\ufffd.")}}},
		"in a comment":   {"<!-- //<![CDATA[\n{\"a\": \"b\nc\",} /* end */ ; //]]> -->", []Object{{Parent: -1}}, []Value{{0, "a", []byte("b\nc")}}},
		"two in a row":   {`{"a": "b"}{"c": "d"}`, []Object{{Parent: -1}, {Parent: -1}}, []Value{{0, "a", []byte("b")}, {1, "c", []byte("d")}}},
		"cut off":        {`{"a": "b", "c": {"d": "e", "f": "g`, []Object{{Parent: -1}, {Key: "c"}}, []Value{{0, "a", []byte("b")}, {1, "d", []byte("e")}}},
		"value missing":  {`{"@type": , "a": "b"}`, []Object{{Parent: -1}}, nil},
		"no object":      {`"a", 1, [[]]`, nil, nil},
		"nothing":        {``, nil, nil},
		"markup, quotes": {`{"a": <b>, "c": 'd'}`, []Object{{Parent: -1}}, []Value{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Read([]byte(c.script))
			if diff := cmp.Diff(Data{Objects: c.objects, Values: c.values}, *got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		cut    bool
	}{
		"deep":         {strings.Repeat(`{"a":`, MaxDepth+1) + "1", true},
		"not so deep":  {strings.Repeat(`[`, MaxDepth-1) + "1", false},
		"many values":  {`{"a": [` + strings.Repeat("1,", MaxValues+1) + `]}`, true},
		"many objects": {strings.Repeat("{}", MaxObjects+1), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Read([]byte(c.script)); got.Cut != c.cut || len(got.Values) > MaxValues || len(got.Objects) > MaxObjects {
				t.Errorf("cut %v, %d objects, %d values", got.Cut, len(got.Objects), len(got.Values))
			}
		})
	}
}

// FuzzRead checks that indexes of objects lie within the data, and that each nested object comes
// after the object around it.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"@type": "A", "b": [{"c": "d\u00"}, 1]}`, `[{"a": "\ud83d\u`, "//", `{"a" "b"}`, "<!--{}-->", `{"a":{"b":`, "\ufeff{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		data := Read(script, script)
		for i, o := range data.Objects {
			if o.Parent < -1 || int(o.Parent) >= i {
				t.Fatalf("object %d stands in %d", i, o.Parent)
			}
		}
		for _, v := range data.Values {
			if v.Object < 0 || int(v.Object) >= len(data.Objects) || len(v.Text) > 3*len(script) {
				t.Fatalf("%+v of %d objects", v, len(data.Objects))
			}
			data.Is(v.Object, "A")
		}
	})
}
