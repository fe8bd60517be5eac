// Command inventory makes two judged sets of queries (see package eval) from objects.inv, the inventory of a
// manual that Sphinx has made. It lists everything in the manual to which a link can lead, with its page.
//
//	go run ./tests/bench/inventory -in objects.inv -base http://127.0.0.1:8000/ -out DIR
//
//	DIR/names-queries.tsv, DIR/names-qrels.tsv         queries are full names of what programs use, such as
//	                                                   os.path.join; the answer is the page that defines it
//	DIR/headings-queries.tsv, DIR/headings-qrels.tsv   queries are headings; the answers are the pages that have them
//
// The flag -base gives the address from which the manual is served. The pages named genindex must be left out of
// the crawl, because they list all names. One in six names and headings becomes a query.
package main

import (
	"bufio"
	"compress/zlib"
	"errors"
	"hash/fnv"
	"io"
	"net/url"
	"regexp"
	"strings"

	"github.com/bucketsearch/bucketsearch/tests/bench/judged"
)

func main() {
	judged.Main("the inventory", "the address of its directory", "the directory of the results", judged.OfFile(entries))
}

const (
	head = 4       // number of lines at the beginning that are not compressed
	most = 1 << 26 // maximum size of the lines behind the head, in bytes
)

// line matches a line of an inventory: name, domain and role, priority, address relative to the manual,
// and text of a heading ("-" for none).
var line = regexp.MustCompile(`^(.+?)\s+(\w+):(\S+)\s+-?\d+\s+(\S*)\s+(.*)$`)

// entries reads an inventory (version 2) of a manual, and returns the two judged sets. The parameter address is
// that of the inventory, beside the pages.
func entries(inventory io.Reader, address *url.URL) (map[string]judged.Set, error) {
	in := bufio.NewReader(inventory)
	for range head {
		if _, err := in.ReadString('\n'); err != nil {
			return nil, err
		}
	}
	listed, err := zlib.NewReader(in)
	if err != nil {
		return nil, errors.New("the inventory is not of version 2 of Sphinx's format: " + err.Error())
	}
	names, headings := make(judged.Set), make(judged.Set)
	lines := bufio.NewScanner(io.LimitReader(listed, most))
	for lines.Scan() {
		m := line.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		name, domain, role, at, heading := m[1], m[2], m[3], m[4], m[5]
		page, _, _ := strings.Cut(at, "#")
		to := address.ResolveReference(&url.URL{Path: page}).String()
		switch {
		case domain != "std" && role != "functionParam" && isChosen(name):
			names.Add(name, to)
		case domain == "std" && role == "label" && heading != "-" && isChosen(heading):
			headings.Add(heading, to)
		}
	}
	return map[string]judged.Set{"names-": names, "headings-": headings}, lines.Err()
}

// isChosen reports whether a text becomes a query.
func isChosen(text string) bool {
	hash := fnv.New32a()
	hash.Write([]byte(text))
	return hash.Sum32()%6 == 0
}
