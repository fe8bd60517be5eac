package main

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// explanations holds a text for each reason that an outcome can have: why a URL is skipped or
// failed, or why a page is stored only in part.
var explanations = map[string]string{
	// skipped without a request, by the rules of collections and strategies
	collection.OutOfScope:     "outside the scope of all seeds",
	collection.Excluded:       "a pattern of exclude matches",
	collection.NotIncluded:    "no pattern of include matches",
	collection.TooDeep:        "more links from a seed than depth",
	collection.TooMany:        "redirects led on and on",
	membership.OffTopic:       "the link is not on the topic",
	membership.NoCollection:   "its collection was removed, or only labels imported pages",
	membership.Refused:        "the crawl strategy refuses it",
	membership.NoPartition:    "no rule of a strategy takes it",
	membership.Forgotten:      "taken down by forget",
	membership.Asset:          "only part of pages, see assets of a collection",
	membership.Mail:           "no page; found by texts of links to it",
	membership.HostFull:       "host_pages are stored already",
	membership.AlikeFull:      "pattern_pages with such addresses are stored already",
	membership.AssetsFull:     "20 assets for each allowed page are stored",
	address.TooLong:           "longer than pages' addresses are",
	address.TooManySegments:   "deeper than pages' addresses are",
	address.TooManyParameters: "more parameters than pages have",
	address.Repeats:           "a maze: the path repeats itself",
	// skipped because of the answer
	membership.Redirect:  "leads to another address, which counts",
	membership.Canonical: "the page names another address as its own",
	membership.Sitemap:   "read for its links, no page",
	membership.Robots:    "robots.txt of the site forbids it",
	"type":               "a format that is not read, such as images",
	"unreadable":         "a document too broken to be read",
	"too big":            "longer than a page may be",
	"bomb":               "unpacks to far more than was sent",
	// failed because the page could not be fetched or stored
	"robots unreachable": "robots.txt could not be had, so nothing was asked",
	"no sitemap":         "given as a sitemap, and is none",
	"not storable":       "does not fit the format of pages",
	"not parsable":       "the program broke down on it",
	"bad address":        "cannot be asked for as it is",
	"bad redirect":       "redirected to what is no web address",
	"fetch died":         "the fetching process died with it",
	"port refused":       "on a port that is not asked",
	"address refused":    "in a network that is not public; see --allow-private",
	"encoding":           "packed in a way that cannot be unpacked",
	"too slow":           "the server sent too slowly",
	"header too big":     "the server's headers were too long",
	"cut short":          "the server ended before all was sent",
	"refused":            "no server answers at the address",
	"no such host":       "no name server knows the host",
	"timeout":            "the server did not answer in time",
	"tls":                "no safe connection, for a wrong certificate say",
	"connection":         "the network broke off the connection",
	// stored, with a remark
	book.Panicked:     "the program broke down on it",
	book.NeedsScripts: "shows hardly any text without running scripts",
	book.Cut:          "too long to be read in full",
	book.Recoded:      "is not in the charset that it declares",
}

// explained returns a reason with its explanation in parentheses, if it has one.
func explained(reason string) string {
	told := explanations[reason]
	if code, found := strings.CutPrefix(reason, "http "); found {
		n, _ := strconv.Atoi(code)
		if told = http.StatusText(n); told != "" {
			told = "the server said: " + told
		}
	}
	if told == "" {
		return reason
	}
	return reason + " (" + told + ")"
}
