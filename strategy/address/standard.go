package address

import (
	"errors"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// maxRaw is the maximum length of a text that is parsed as a URL, in bytes. It is greater
// than MaxBytes, because the canonical form of the URL may be shorter than the text: parsing
// removes dot segments, a password, tabs and line ends.
const maxRaw = 4 * MaxBytes

// parser parses URLs by the WHATWG URL standard. In paths it percent-encodes '^', too, as the
// standard now demands. It is safe for concurrent use.
var parser = whatwg.NewParser(whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')))

// errEmptyLabel: the host name has an empty label, as in a..example. The URL standard
// accepts such a name, but the DNS does not (RFC 1035, section 2.3.1).
var errEmptyLabel = errors.New("host name has an empty label")

// standardize resolves a reference against the canonical URL of the page that contains it, and
// returns the canonical form of the result. If base is empty, ref must be an absolute URL.
func standardize(base, ref string) (string, error) {
	if foreignScheme(ref) {
		return "", ErrScheme
	}
	if len(ref) > maxRaw {
		return "", ErrTooLong
	}
	u, err := parser.ParseRef(base, ref)
	if err != nil {
		return "", err
	}
	if s := u.Scheme(); s != "http" && s != "https" {
		return "", ErrScheme
	}
	if strings.Contains("."+strings.TrimSuffix(u.Hostname(), ".")+".", "..") {
		return "", errEmptyLabel
	}
	u.SetUsername("")
	u.SetPassword("")
	canonical := NormalEscapes(u.Href(true))
	if len(canonical) > MaxBytes {
		return "", ErrTooLong
	}
	return canonical, nil
}

// foreignScheme reports whether ref has a scheme that is certainly not http or https.
// So the many mailto: and javascript: links need no parsing.
func foreignScheme(ref string) bool {
	scheme, ok := leadingScheme(ref)
	return ok && !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https")
}
