package address

import "strings"

// Untranslated returns a URL without the parts that name the given language, and reports whether there
// are such parts. The URLs of a page and its translation often differ only in these parts, so their
// results are equal. The language is a primary subtag (RFC 5646). The characters / . ? & and = divide
// a URL into parts, and become "/" in the result:
//
//	https://a.org/de/install.html, de       https:/a/org/install/html, true
//	https://a.org/install.de-AT.html, de    https:/a/org/install/html, true
//	https://a.org/install.html, en          https:/a/org/install/html, false
//	https://a.org/de/install.html, en       https:/a/org/de/install/html, false
//
// The last example is a page of a German manual whose text is still English.
func Untranslated(url, language string) (rest string, named bool) {
	var kept []string
	for part := range strings.FieldsFuncSeq(url, func(r rune) bool { return strings.ContainsRune("/.?&=", r) }) {
		primary, _, _ := strings.Cut(strings.ReplaceAll(part, "_", "-"), "-")
		if language != "" && strings.EqualFold(primary, language) {
			named = true
			continue
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, "/"), named
}
