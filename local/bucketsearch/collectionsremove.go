package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

func removeCommand(where *location) *cobra.Command {
	var asJSON, pages, now, sure bool
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Crawl a collection no more",
		Long: "Remove ends a collection: nothing is asked for on its behalf any more, and what waits\n" +
			"for it leaves the queue unless another collection wants it. Its pages stay, and are\n" +
			"found, until they are forgotten (bucketsearch forget SITE).\n\n" +
			"With --pages, the pages that this collection alone has brought are taken down, as forget\n" +
			"does it: they are found no more within seconds, and erased after an hour. Until then\n" +
			"forget --undo --takedown takes that back; later it lets them be crawled again. Pages that\n" +
			"another collection admits, or has admitted, stay. A collection that was removed without\n" +
			"--pages can be given once more.",
		Example: "  bucketsearch collections remove postgres\n  bucketsearch collections remove postgres --pages",
		Args:    oneName,
		PreRunE: func(*cobra.Command, []string) error {
			if now && !pages {
				return misuse(errors.New("collections remove --now erases pages at once, and without --pages it leaves them; write --pages --now"))
			}
			return nil
		},
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			if pages {
				return removeWithPages(cmd, where, a, args[0], taking{now, sure, asJSON})
			}
			removed, err := collection.Remove(cmd.Context(), a.Bucket, args[0])
			if errors.Is(err, collection.ErrNone) {
				return noCollection(args[0])
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), removed)
			}
			fmt.Fprintf(where.sentences(cmd.OutOrStdout(), false), "Collection %s is removed: nothing is asked for on its behalf any more.\n"+
				"Its pages stay, and are found, until they are forgotten: bucketsearch forget SITE.\n"+
				"To take down those that it alone has brought: bucketsearch collections remove %[1]s --pages\n", removed.Name)
			return nil
		}),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&pages, "pages", false, "take the pages down that it alone has brought")
	flags.BoolVar(&now, "now", false, "with --pages: erase at once, so that nothing can be taken back")
	flags.BoolVar(&sure, "yes", false, "do not ask; without --pages, nothing is asked anyway")
	flags.BoolVar(&asJSON, "json", false, "print JSON: what the collection was and, with --pages, what is taken down")
	return cmd
}

// taking holds the flags of collections remove --pages.
type taking struct{ now, sure, asJSON bool }

// removal is the output of `bucketsearch collections remove --pages --json`: the collection that was removed, and
// the pages that are taken down.
type removal struct {
	collection.Collection
	Pages    int         `json:"taken_down"`         // number of pages that are taken down
	Hosts    []hostPages `json:"hosts"`              // their hosts, those with the most pages first
	Takedown uint64      `json:"takedown,omitempty"` // number of the takedown; 0 if there is no page
	Until    time.Time   `json:"until,omitzero"`     // time until which it can be taken back; zero with --now
}

// hostPages is the number of pages of a host.
type hostPages struct {
	Host  string `json:"host"`
	Pages int    `json:"pages"`
}

// mostTaken is the greatest number of pages that one command takes down. The list of takedowns has room
// for somewhat more.
const mostTaken = 80_000

// shownHosts is the greatest number of hosts that are shown before the question.
const shownHosts = 10

// removeWithPages removes a collection, and takes down the pages that only this collection has brought. It first
// shows how many pages of which hosts these are, and asks for confirmation. It takes the pages down before it
// removes the collection. So if the program is killed in between, the same command can be repeated, and does the
// rest.
func removeWithPages(cmd *cobra.Command, where *location, a *system.Attached, name string, t taking) error {
	own, err := ownPages(cmd, a, name)
	if err != nil {
		return err
	}
	inForce, err := a.Settings.Get(cmd.Context())
	if err != nil {
		return err
	}
	known := inForce.Collection(name).Version > 0
	switch {
	case !known && len(own) == 0:
		return noCollection(name)
	case len(own) > mostTaken:
		return fmt.Errorf("collection %s alone has brought %d pages, and at most %d can be taken down at once; forget its sites instead: bucketsearch forget SITE", name, len(own), mostTaken)
	}
	done := removal{Pages: len(own), Hosts: byHost(own)}
	if err := printHosts(cmd.ErrOrStderr(), done); err != nil {
		return err
	}
	if question := fmt.Sprintf("Collection %s is removed, and %s forgotten for good%s. Go on?", name, count(len(own), "stored page"), map[bool]string{false: " after an hour"}[t.now]); !t.sure && !confirmed(cmd, question) {
		return fmt.Errorf("nothing was removed; to go on without being asked: bucketsearch collections remove %s --pages --yes", name)
	}
	if len(own) > 0 {
		if done.Takedown, done.Until, err = takeDown(cmd, a, own, t.now); err != nil {
			return err
		}
	}
	if done.Collection, err = collection.Remove(cmd.Context(), a.Bucket, name); errors.Is(err, collection.ErrNone) {
		done.Collection, err = collection.Collection{Name: name}, nil
	}
	if err != nil {
		return err
	}
	if t.asJSON {
		return printJSON(cmd.OutOrStdout(), done)
	}
	out := where.sentences(cmd.OutOrStdout(), false)
	if known {
		fmt.Fprintf(out, "Collection %s is removed: nothing is asked for on its behalf any more.\n", name)
	}
	if len(own) == 0 {
		fmt.Fprintln(out, "It alone has brought no page that is stored.")
		return nil
	}
	fmt.Fprintf(out, "%s forgotten (takedown %d), never to be asked for again; %s.\n", count(len(own), "stored page"), done.Takedown, whenErased(a, len(own), done.Until, t.now))
	if !t.now {
		fmt.Fprintf(out, "To take it back until then: bucketsearch forget --undo --takedown %d\n", done.Takedown)
	}
	if a.Redis != nil {
		fmt.Fprintf(out, "Pages that are being fetched now may still come; to take them down, too: bucketsearch collections remove %s --pages\n", name)
	}
	return nil
}

// takeDown publishes a takedown of the pages, and returns its number. If the parameter now is true, the pages are
// erased at once, and the second result is the zero time. Otherwise it is the time until which the takedown can be
// taken back.
func takeDown(cmd *cobra.Command, a *system.Attached, pages []address.Address, now bool) (version uint64, until time.Time, err error) {
	entries := make([]takedown.Entry, len(pages))
	for i, page := range pages {
		entries[i] = takedown.URL(page, time.Now())
	}
	if now {
		version, err = takedown.Forget(cmd.Context(), a.Bucket, entries...)
		return version, time.Time{}, err
	}
	until = finalAt(time.Now())
	version, err = takedown.Suspend(cmd.Context(), a.Bucket, until, entries...)
	return version, until, err
}

// ownPages returns the addresses of the stored pages that only the collection with the given name has brought: the
// page is stored for no other collection, and no other collection that is in force admits its address. Pages that
// are forgotten already are left out. It prints a warning for books (records of the crawl) that cannot be read.
func ownPages(cmd *cobra.Command, a *system.Attached, name string) (own []address.Address, err error) {
	inForce, err := a.Settings.Get(cmd.Context())
	if err != nil {
		return nil, err
	}
	others := *inForce
	others.Collections = slices.DeleteFunc(slices.Clone(inForce.Collections), func(c collection.Collection) bool { return c.Name == name })
	others.Takedowns = inForce.Takedowns.Hidden()
	if err := others.Prepare(); err != nil {
		return nil, err
	}
	books, err := account.Survey(cmd.Context(), a.Bucket, &others)
	if err != nil {
		return nil, err
	}
	for u, err := range books.All(cmd.Context(), layout.Range{}) {
		if err != nil {
			return nil, err
		}
		if u.State == account.Stored && !u.Admitted && slices.Equal(u.Page.Collections, []string{name}) {
			own = append(own, u.Address)
		}
	}
	for _, fault := range books.Faults() {
		tellFaults(cmd, []string{fault.Error()})
	}
	return own, nil
}

// byHost counts pages by host. The hosts with the most pages come first.
func byHost(pages []address.Address) []hostPages {
	counts := make(map[string]int)
	for _, page := range pages {
		counts[page.Host]++
	}
	hosts := make([]hostPages, 0, len(counts))
	for host, n := range counts {
		hosts = append(hosts, hostPages{host, n})
	}
	slices.SortFunc(hosts, func(a, b hostPages) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), strings.Compare(a.Host, b.Host))
	})
	return hosts
}

// printHosts prints how many pages of which hosts are to be taken down.
func printHosts(out io.Writer, r removal) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, h := range r.Hosts {
		if i == shownHosts {
			fmt.Fprintf(w, "… and %s more\n", count(len(r.Hosts)-i, "host"))
			break
		}
		fmt.Fprintf(w, "%s\t%s\n", h.Host, count(h.Pages, "page"))
	}
	return w.Flush()
}
