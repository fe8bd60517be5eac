// Package linkeddata reads the JSON-LD of a page (W3C, JSON-LD 1.1). With JSON-LD, a page
// describes its content for programs, in the vocabulary of schema.org: a product with its
// brand, a question with its answers, an article with its text.
//
//	{"@type": "Product", "name": "Cup", "brand": {"@type": "Brand", "name": "Acme"}}
//
//	Objects  Product; Brand, inside of it under the key brand
//	Values   name: "Cup" of the first object, name: "Acme" of the second
//
// The result is a flat list of objects, in the order of their beginnings, and a flat list of
// values. Reading takes one pass and never fails: of damaged JSON it keeps everything before
// the damage. It accepts common deviations from the standard: line feeds in strings, commas
// before the end of a list, comments.
// Contexts are not resolved; a type or key is the part after its last slash, hash
// or colon.
package linkeddata

// Limits on the data of one page. If they cut something off, Data.Cut is true.
const (
	MaxObjects = 20_000
	MaxValues  = 50_000
	MaxDepth   = 64
)

// Data is a page's JSON-LD as a list of objects and a list of their values. Cut says that a
// limit cut something off.
type Data struct {
	Objects []Object
	Values  []Value // strings and numbers, in the order of the JSON
	Cut     bool
}

// Object is a JSON object.
type Object struct {
	Type   string // first @type of the object; "" if it has none
	Key    string // key under which the object is in the object around it; "" at the top level
	Parent int32  // the object around it, as an index in Data.Objects; -1 at the top level
}

// Value is a text or number under a key of an object.
type Value struct {
	Object int32 // index in Data.Objects
	Key    string
	Text   []byte // text, perhaps with HTML markup; JSON escapes are resolved; may share memory with the JSON
}

// Is reports whether an object, or an object around it, has one of the types.
func (d *Data) Is(object int32, types ...string) bool {
	for ; object >= 0; object = d.Objects[object].Parent {
		for _, t := range types {
			if d.Objects[object].Type == t {
				return true
			}
		}
	}
	return false
}
