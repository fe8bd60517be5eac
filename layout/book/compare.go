package book

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Compare orders outcomes by place, identity and version, and then by all that
// remains, so that any order of the same outcomes sorts into one.
func (o Outcome) Compare(p Outcome) int {
	if c := compareURL(o.Place, o.URL, p.Place, p.URL); c != 0 {
		return c
	}
	return cmp.Or(
		o.Version.Compare(p.Version),
		cmp.Compare(o.State, p.State),
		cmp.Compare(o.Reason, p.Reason),
		cmp.Compare(o.Detail, p.Detail),
		cmp.Compare(o.Status, p.Status),
		cmp.Compare(o.Depth, p.Depth),
		cmp.Compare(o.Hops, p.Hops),
		cmp.Compare(o.Attempts, p.Attempts),
		cmp.Compare(o.Exponent, p.Exponent),
		cmp.Compare(o.Weight, p.Weight),
		cmp.Compare(o.Time.UnixMilli(), p.Time.UnixMilli()),
		cmp.Compare(o.ETag, p.ETag),
		cmp.Compare(o.Modified, p.Modified),
		cmp.Compare(o.Digest, p.Digest),
		cmp.Compare(o.Body, p.Body),
		slices.Compare(o.Collections, p.Collections),
		cmp.Compare(o.Package, p.Package),
		cmp.Compare(o.Offset, p.Offset),
		cmp.Compare(o.Length, p.Length),
		cmp.Compare(o.Pace.Rest.UnixMilli(), p.Pace.Rest.UnixMilli()),
		cmp.Compare(o.Pace.Delay.Milliseconds(), p.Pace.Delay.Milliseconds()),
		cmp.Compare(o.Pace.Failures, p.Pace.Failures),
	)
}

// Supersedes reports whether what o says of its URL counts rather than what p
// says of the same: its version is higher, or, which no sound batch brings
// about, it is the same and o comes first in the order of Compare.
func (o Outcome) Supersedes(p Outcome) bool {
	if c := o.Version.Compare(p.Version); c != 0 {
		return c > 0
	}
	return o.Compare(p) < 0
}

// compareLinks orders links by the place and identity of the target, and then
// by all that remains but the source.
func compareLinks(l, m Link) int {
	if c := compareURL(l.Place, l.Target, m.Place, m.Target); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(l.Kind, m.Kind),
		cmp.Compare(l.Region, m.Region),
		cmp.Compare(l.Rel, m.Rel),
		cmp.Compare(l.Anchor, m.Anchor),
		cmp.Compare(l.Around, m.Around),
		cmp.Compare(l.Depth, m.Depth),
		cmp.Compare(l.Hops, m.Hops),
		cmp.Compare(l.Weight, m.Weight),
		cmp.Compare(secondsOf(l.Modified), secondsOf(m.Modified)),
		cmp.Compare(l.Collection, m.Collection),
		cmp.Compare(l.Decision, m.Decision),
	)
}

// compareURL orders by place and identity. A place ends with the start of the
// identity, so identities are almost never asked for.
func compareURL(p layout.Place, url string, q layout.Place, other string) int {
	if c := cmp.Compare(p, q); c != 0 {
		return c
	}
	if url == other {
		return 0
	}
	return layout.IdentityOf(url).Compare(layout.IdentityOf(other))
}
