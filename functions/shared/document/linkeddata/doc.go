// Package linkeddata reads the JSON-LD of a page (W3C, JSON-LD 1.1), in which it
// tells machines what it is about in the words of schema.org: a product with its
// brand, a question with its answers, an article with its text.
//
//	{"@type": "Product", "name": "Cup", "brand": {"@type": "Brand", "name": "Acme"}}
//
//	Objects  Product, Brand inside it as its brand
//	Values   name "Cup" of the first, name "Acme" of the second
//
// What is returned is flat: objects in the order of their beginning, and values in
// order. Reading takes one pass and never fails: of damaged JSON it keeps what was
// read before the damage, and it takes what pages often hold in spite of the
// standard: line feeds in strings, commas before the end of a list, comments.
// Contexts are not resolved; a type or key is the part behind its last slash, hash
// or colon.
package linkeddata

// Limits on the data of one page. Data.Cut says that they cut something off.
const (
	MaxObjects = 20_000
	MaxValues  = 50_000
	MaxDepth   = 64
)

// Data are the objects of a page.
type Data struct {
	Objects []Object
	Values  []Value // strings and numbers
	Cut     bool
}

// Object is a JSON object.
type Object struct {
	Type   string // the first that it tells, "" without any
	Key    string // under which it stands in the one around it; "" at the top
	Parent int32  // number of the object around it, -1 at the top
}

// Value is a text or number under a key of an object.
type Value struct {
	Object int32
	Key    string
	Text   []byte // with its markup, white space as it is; a part of the script where it holds no escapes
}

// Is reports whether an object or one around it is of one of some types.
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
