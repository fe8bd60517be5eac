package address

import (
	"net/netip"
	"net/url"
	"strings"
)

// mailPort ends the origin of a mail address (see ParseMail): 25 is the port of mail servers. Browsers
// request nothing from this port (https://fetch.spec.whatwg.org/#port-blocking), so no page has such
// an address.
const mailPort = ":25"

// maxLocalPart is the maximum length of a mail address before its @, in bytes (RFC 5321, section
// 4.5.3.1.1).
const maxLocalPart = 64

// ParseMail returns the address of the mail address in a reference such as mailto:Jane@Example.org?subject=Hello.
// A mail address has no page, but links to it tell whose it is. In the books and wherever URLs are
// recorded, it is a URL of its domain, with the port of mail servers:
//
//	Jane@example.org    http://example.org:25/Jane
//
// So programs that know no mail addresses can read the books, and all mail addresses of a site are
// next to its pages. The domain is in lower case; the part before the @ stays as it is. Of several
// recipients the first counts. ParseMail returns false if ref does not begin with "mailto:", or if the
// mail address is not valid on the Internet: its domain must have a registrable domain, so neither
// joe@localhost nor joe@10.0.0.1 is valid. The part before the @ must consist of letters, digits and
// the characters !$&'*+-=_~ and single dots.
func ParseMail(ref string) (Address, bool) {
	const scheme = "mailto:"
	if len(ref) < len(scheme) || !strings.EqualFold(ref[:len(scheme)], scheme) || len(ref) > maxRaw {
		return Address{}, false
	}
	raw := ref[len(scheme):]
	if end := strings.IndexAny(raw, "?#,"); end >= 0 {
		raw = raw[:end]
	}
	plain, err := url.PathUnescape(raw)
	if err != nil {
		return Address{}, false
	}
	local, domain, found := strings.Cut(strings.TrimSpace(plain), "@")
	if !found || !isLocalPart(local) || strings.ContainsAny(domain, `:/\?#@%`) {
		return Address{}, false
	}
	a, err := Parse("http://" + strings.TrimSuffix(domain, ".") + mailPort + "/" + local)
	if err != nil || !a.IsMail() {
		return Address{}, false
	}
	return a, true
}

// IsMail reports whether the address is that of a mail address (see ParseMail), and not of a page.
func (a Address) IsMail() bool {
	origin, is := strings.CutSuffix(a.Origin, mailPort)
	domain, isHTTP := strings.CutPrefix(origin, "http://")
	if !is || !isHTTP || !isDomain(domain) || !isLocalPart(strings.TrimPrefix(a.Path, "/")) {
		return false
	}
	_, err := netip.ParseAddr(a.Site)
	return err != nil && strings.Contains(a.Site, ".") && !strings.HasSuffix(a.Site, ".invalid")
}

// Shown returns a canonical URL as people know it: mailto:jane@example.org for a mail address (see
// ParseMail), and any other URL unchanged.
func Shown(canonical string) string {
	if !strings.Contains(canonical, mailPort+"/") {
		return canonical
	}
	a := split(canonical)
	if !a.IsMail() {
		return canonical
	}
	return "mailto:" + strings.TrimPrefix(a.Path, "/") + "@" + strings.TrimSuffix(a.Host, mailPort)
}

// ParseTypedMail returns the address of a mail address as people type it: with or without "mailto:". It
// returns false for any other text.
func ParseTypedMail(text string) (Address, bool) {
	if a, is := ParseMail(text); is {
		return a, true
	}
	return ParseMail("mailto:" + text)
}

// isDomain reports whether a canonical host name consists of letters, digits, hyphens and dots.
func isDomain(host string) bool {
	return !strings.HasSuffix(host, ".") && !strings.ContainsFunc(host, func(r rune) bool {
		return r != '-' && r != '.' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// isLocalPart reports whether a text may stand before the @ of a mail address (see ParseMail). None of
// the characters that it allows is escaped in a canonical URL.
func isLocalPart(s string) bool {
	if s == "" || len(s) > maxLocalPart || strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".") || strings.Contains(s, "..") {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !isLetter(s[i]) && !isDigit(s[i]) && strings.IndexByte("!$&'*+-=_~.", s[i]) < 0 {
			return false
		}
	}
	return true
}
