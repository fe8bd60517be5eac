package collection

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
	"github.com/bucketsearch/bucketsearch/strategy/text/language"
)

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// Validate returns an error that says what is wrong with the collection, or nil.
func (c Collection) Validate() error {
	switch {
	case c.Delay < 0:
		return errors.New("delay is negative; write 0s or more")
	case c.HostConnections < 1:
		return literal.Wrong("host_connections", c.HostConnections, "1 or more")
	case c.Connections < 0:
		return literal.Wrong("connections", c.Connections, "0 for no limit, or more")
	case c.Pages < 0:
		return literal.Wrong("pages", c.Pages, "0 for no limit, or more")
	case c.HostPages < 0:
		return literal.Wrong("host_pages", c.HostPages, "0 for no limit, or more")
	case c.PatternPages < Unlimited:
		return literal.Wrong("pattern_pages", c.PatternPages, fmt.Sprintf("%d for no limit, 0 for %d, or more", Unlimited, DefaultPatternPages))
	}
	for _, err := range []error{ValidName(c.Name), validAgent(c.Agent), validLanguage(c.Language), c.Schedule.Validate(), c.Topic.validate()} {
		if err != nil {
			return err
		}
	}
	for _, list := range []struct {
		texts []string
		valid func(string) error
	}{{c.Sitemaps, validSitemap}, {c.Allow, validAllow}} {
		for _, text := range list.texts {
			if err := list.valid(text); err != nil {
				return err
			}
		}
	}
	_, err := c.Rules()
	return err
}

// ValidName returns an error that says what is wrong with the name of a collection, or nil.
func ValidName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("name %q: want up to 63 lower-case letters, digits and hyphens", name)
	}
	return nil
}

func validAgent(agent string) error {
	if agent == "" {
		return errors.New("no agent: want the name of the crawler and a contact address")
	}
	if strings.ContainsFunc(agent, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Errorf("agent %q: want printable ASCII", agent)
	}
	return nil
}

func validLanguage(code string) error {
	if code == "" {
		return nil
	}
	if known := language.Known(); !slices.Contains(known, code) {
		return fmt.Errorf("language %.20q: want an ISO 639 code such as en, one of those that can be identified: %s", code, strings.Join(known, " "))
	}
	return nil
}

func validSitemap(url string) error {
	if _, err := address.Parse(url); err != nil {
		return fmt.Errorf("sitemap: %w", err)
	}
	return nil
}

// validAllow returns an error unless text is a CIDR range (10.0.0.0/8, fd00::/8), an IP
// address (127.0.0.1, ::1) or a host name (intranet.example).
func validAllow(text string) error {
	if prefix, err := netip.ParsePrefix(text); err == nil && prefix == prefix.Masked() {
		return nil
	}
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		return nil
	}
	if a, err := address.Parse("http://" + text + "/"); err == nil && !strings.ContainsAny(text, "/:@?#*") {
		if _, err := netip.ParseAddr(a.Site); err != nil { // 10.1 would mean 10.0.0.1
			return nil
		}
	}
	return fmt.Errorf("allow %.100q: want a range of addresses such as 10.0.0.0/8, an address, or the name of a host without a port", text)
}
