package sitemap

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// maxText is the maximum number of bytes that are kept of the text of an XML element; the rest is cut
// off. It is greater than the maximum length of an address (address.MaxBytes). So an address that was
// cut off is still too long, and is refused. In a sitemap that is a text file, a line longer than
// maxText is skipped, and a line longer than bufferSize is an error.
const maxText = 4 * address.MaxBytes

// record collects the fields of one entry of a sitemap or feed. If several elements of the entry
// set one field, the first that is not empty counts.
type record struct {
	location, guid    string
	modified, created string
	priority          string

	// These fields describe the child element of the entry that is open now:

	text       []byte // text of the element so far, up to maxText bytes
	isLink     bool   // the attribute rel is absent or "alternate": then a link element has the page's address
	isPermaURL bool   // the attribute isPermaLink is not "false": then a guid element has the page's address
}

// attributes holds the attributes href, rel and isPermaLink of one element; "" for an absent
// attribute.
type attributes struct{ href, rel, permanent string }

func (r *record) reset() { *r = record{text: r.text[:0]} }

// open begins a child element of the entry, with a name and attributes. From a link element of Atom
// it takes the address, which is in the attribute href.
func (r *record) open(f form, name string, a attributes) {
	r.text = r.text[:0]
	r.isLink = a.rel == "" || strings.EqualFold(a.rel, "alternate")
	r.isPermaURL = !strings.EqualFold(a.permanent, "false")
	if name == f.location && name == "link" && r.isLink { // a link element of Atom
		r.location = cmp.Or(r.location, strings.TrimSpace(a.href))
	}
}

// write adds text of the open element, up to maxText bytes.
func (r *record) write(text []byte) {
	r.text = append(r.text, text[:min(len(text), maxText-len(r.text))]...)
}

// close ends the open child element, which has this name. It stores the element's text in the field
// for that name, unless the field is set already.
func (r *record) close(f form, name string) {
	var field *string
	switch name {
	case f.location:
		if r.isLink {
			field = &r.location
		}
	case "guid":
		if r.isPermaURL {
			field = &r.guid
		}
	case "lastmod", "updated", "pubdate", "date":
		field = &r.modified
	case "published":
		field = &r.created
	case "priority":
		field = &r.priority
	}
	if field != nil && *field == "" {
		*field = string(bytes.TrimSpace(r.text))
	}
}

// entry returns the entry that the collected fields describe, or false if it has no valid address.
// The parameter list is the address of the sitemap or feed, against which a relative address is
// resolved. In a feed, the guid is used as address if there is no link.
func (r *record) entry(f form, list address.Address) (Entry, bool) {
	var a address.Address
	var err error
	switch {
	case r.location != "":
		a, err = list.Resolve(r.location)
	case f.location == "link":
		a, err = address.Parse(r.guid)
	default:
		return Entry{}, false
	}
	if err != nil {
		return Entry{}, false
	}
	return Entry{
		Address: a, Index: f.index, Priority: priority(r.priority),
		Modified: parseDate(cmp.Or(r.modified, r.created)),
	}, true
}

// priority parses a priority, and limits it to the range from 0 to 1. For a text that is no number
// it returns DefaultPriority.
func priority(s string) float32 {
	p, err := strconv.ParseFloat(s, 32)
	if err != nil || p != p {
		return DefaultPriority
	}
	return float32(min(max(p, 0), 1))
}

// unescape decodes character references and the five entities of XML. It leaves every other
// '&' unchanged, because many sitemaps and feeds have addresses in which '&' is not escaped.
func unescape(s []byte) []byte {
	if bytes.IndexByte(s, '&') < 0 {
		return s
	}
	plain := make([]byte, 0, len(s))
	for {
		i := bytes.IndexByte(s, '&')
		if i < 0 {
			return append(plain, s...)
		}
		plain, s = append(plain, s[:i]...), s[i+1:]
		name, _, found := bytes.Cut(s[:min(len(s), 10)], []byte(";"))
		c := rune(-1)
		if found {
			c = entity(string(name))
		}
		if c < 0 {
			plain = append(plain, '&')
			continue
		}
		plain = append(plain, string(c)...)
		s = s[len(name)+1:]
	}
}

var entities = map[string]rune{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

// entity returns the character of an entity or character reference, such as amp, #38 or
// #x26; -1 if there is none.
func entity(name string) rune {
	if c, known := entities[name]; known {
		return c
	}
	digits, numeric := strings.CutPrefix(name, "#")
	base := 10
	if hex, is := strings.CutPrefix(digits, "x"); is {
		digits, base = hex, 16
	}
	c, err := strconv.ParseUint(digits, base, 21)
	if !numeric || err != nil || c == 0 {
		return -1
	}
	return rune(c)
}
