package address

import "strings"

// Untranslated returns a URL without the parts that name a language, and whether there are such parts.
// Translations of a page often have the same URL but for these. Parts are what stands between the
// characters / . ? & and =, and the language is a primary subtag (RFC 5646):
//
//	https://a.org/de/install.html, de       https:/a/org/install/html, true
//	https://a.org/install.de-AT.html, de    https:/a/org/install/html, true
//	https://a.org/install.html, en          https:/a/org/install/html, false
//	https://a.org/de/install.html, en       https:/a/org/de/install/html, false
//
// The last is the URL of a page of a translated manual that is not translated yet.
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
