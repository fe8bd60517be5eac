package address

import (
	"errors"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// maxRaw is the longest input for the parser, in bytes. The result may be shorter: dot
// segments, a password, tabs and line ends are removed.
const maxRaw = 4 * MaxBytes

// parser follows the WHATWG URL standard, with '^' in the path percent-encode
// set as the standard has it now. It is safe for concurrent use.
var parser = whatwg.NewParser(whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')))

// errEmptyLabel: the host is like a..example. The URL standard accepts it, but the DNS
// does not (RFC 1035, section 2.3.1).
var errEmptyLabel = errors.New("host name has an empty label")

// standardize returns the canonical form of ref on the canonical base, or of
// an absolute ref when base is empty.
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
// It saves the parser the many mailto: and javascript: links.
func foreignScheme(ref string) bool {
	scheme, ok := leadingScheme(ref)
	return ok && !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https")
}
