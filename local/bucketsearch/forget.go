package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// takeBack is the least time for which a takedown can be taken back. All takedowns of the same takeTogether become
// final at the same time: to erase pages from a large segment costs as much for one of them as for many.
const (
	takeBack     = time.Hour
	takeTogether = 15 * time.Minute
)

// finalAt returns the time until which a takedown of now can be taken back. For example, those of after 9:45 until
// 10:00 become final at 11:00.
func finalAt(now time.Time) time.Time {
	return now.UTC().Add(takeBack + takeTogether - 1).Truncate(takeTogether)
}

func forgetCommand(where *location) *cobra.Command {
	var sure, now, undo bool
	var number uint64
	cmd := &cobra.Command{
		Use:   "forget URL|SITE...",
		Short: "Take URLs or whole sites down, for good after an hour",
		Long: "Forget takes pages down: they are found no more within seconds, and never asked for\n" +
			"again. For an hour, or some minutes more, they are only hidden, and forget --undo takes\n" +
			"that back; then they are erased from packages, index and books by the system that runs,\n" +
			"or by the next start, and what they stood in is deleted a day later. verify tells\n" +
			"whether anything is left. With --now they are erased at once, and nothing can be taken\n" +
			"back.\n\n" +
			"Once they are erased, forget --undo only lets them be crawled again. With --takedown it does\n" +
			"so for all that one takedown names, such as that of collections remove --pages.\n\n" +
			"A name without a slash is a whole site with all its hosts, anything else one URL. A mail\n" +
			"address such as mailto:jane@example.org is found no more; the pages that link to it stay.",
		Example: "  bucketsearch forget https://example.org/private.html\n  bucketsearch forget example.org\n  bucketsearch forget --undo example.org",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case number > 0 && (!undo || len(args) > 0):
				return errors.New("forget --takedown takes back all that one takedown names; write bucketsearch forget --undo --takedown 7, without addresses")
			case len(args) == 0 && number == 0:
				return errors.New("forget needs an address or a site, such as: bucketsearch forget https://example.org/private.html")
			}
			return nil
		},
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			if number > 0 {
				return undoTakedown(cmd, a, number, where)
			}
			targets, err := parseTargets(args)
			if err != nil {
				return err
			}
			if targets, err = withCleaned(cmd.Context(), a, targets); err != nil {
				return err
			}
			if undo {
				return undoForget(cmd, a, targets, where)
			}
			stored, err := concerned(cmd, a, targets)
			if err != nil {
				return err
			}
			if !sure && !confirmed(cmd, fmt.Sprintf("%s will be forgotten for good%s. Go on?", count(stored, "stored page"), map[bool]string{false: " after an hour"}[now])) {
				return errors.New("nothing was forgotten; to go on without being asked: bucketsearch forget --yes …")
			}
			var version uint64
			final := finalAt(time.Now())
			if now {
				version, err = takedown.Forget(cmd.Context(), a.Bucket, entriesOf(targets)...)
			} else {
				version, err = takedown.Suspend(cmd.Context(), a.Bucket, final, entriesOf(targets)...)
			}
			if err != nil {
				return err
			}
			out := where.sentences(cmd.OutOrStdout(), false)
			fmt.Fprintf(out, "%s forgotten (takedown %d), never to be asked for again; %s.\n", count(stored, "stored page"), version, whenErased(a, stored, final, now))
			if !now {
				fmt.Fprintf(out, "To take it back until then: bucketsearch forget --undo %s\n", quotedAll(args))
			}
			return nil
		}),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&undo, "undo", false, "take a takedown back: show its pages again, or, once they are erased,\nlet them be crawled again")
	flags.BoolVar(&now, "now", false, "erase at once, so that nothing can be taken back")
	flags.BoolVar(&sure, "yes", false, "do not ask")
	wholeVar(flags, &number, "takedown", "", 0, 1, math.MaxInt64, "with --undo: take back the takedown with the number `n`, whatever it names")
	cmd.MarkFlagsMutuallyExclusive("undo", "now")
	return cmd
}

// whenErased returns a clause that says when the forgotten pages are erased. The parameter stored is the
// number of these pages, and final the time after which they are erased. If now is true, as by the flag --now, they are
// erased at once.
func whenErased(a *system.Attached, stored int, final time.Time, now bool) string {
	switch {
	case !now:
		return "hidden within seconds, and erased after " + final.Format(timeForm)
	case stored == 0:
		return "nothing of it was stored"
	case a.Redis != nil:
		return "they are found no more within seconds, and erased within minutes"
	}
	return "the next start erases them"
}

// target is one argument of forget: a URL or a whole site.
type target struct {
	address address.Address
	site    bool // true: the whole site of the address; false: only its URL
}

// parseTargets parses the arguments of forget: URLs and sites. It refuses an argument that may be
// either, such as example.org:8080. A URL may be that of a mail address. It also refuses a host that is only a part of a site, such as
// www.example.org, which is a part of example.org.
func parseTargets(args []string) ([]target, error) {
	var targets []target
	for _, arg := range args {
		at, err := system.ParseAddress(arg)
		if err != nil {
			return nil, fmt.Errorf("%.200q is neither a web address nor a site; write https://example.org/page or example.org", arg)
		}
		t := target{address: at, site: isSite(arg)}
		if !t.site && !at.IsMail() && !strings.Contains(arg, "/") {
			return nil, fmt.Errorf("%s: is it a site or a URL? To forget all of the site: bucketsearch forget %s; the one URL: bucketsearch forget %s", arg, t.address.Site, quoted(t.address.URL))
		}
		if host, _, _ := strings.Cut(t.address.Host, ":"); t.site && host != t.address.Site {
			return nil, fmt.Errorf("%s is a host of the site %s; to forget all of it: bucketsearch forget %s", arg, t.address.Site, t.address.Site)
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// withCleaned returns the targets and, after each URL, the addresses that collections crawl in
// its place: the URL without the parameters that a collection drops, such as a session id.
func withCleaned(ctx context.Context, a *system.Attached, targets []target) ([]target, error) {
	var all []target
	for _, t := range targets {
		if t.site {
			all = append(all, t)
			continue
		}
		meant, err := a.Addresses(ctx, t.address.URL)
		if err != nil {
			return nil, err
		}
		for _, at := range meant {
			all = append(all, target{address: at})
		}
	}
	return all, nil
}

// isSite reports whether an argument of forget names a site: a name without a slash, port
// or query, or an IP address. A mail address is no site.
func isSite(arg string) bool {
	if _, err := netip.ParseAddr(arg); err == nil {
		return true
	}
	return !strings.ContainsAny(arg, "/:?#@")
}

// entriesOf returns takedown entries, one for each target (a site or a URL to be forgotten), with the
// present time.
func entriesOf(targets []target) []takedown.Entry {
	var entries []takedown.Entry
	for _, t := range targets {
		if t.site {
			entries = append(entries, takedown.Site(t.address.Site, time.Now()))
		} else {
			entries = append(entries, takedown.URL(t.address, time.Now()))
		}
	}
	return entries
}

// concerned returns the number of stored pages that a takedown of the targets would erase. It counts
// them in the books, which record in the bucket what is stored, and reads only the parts of the books
// about the targets. If some books are lost or damaged, it
// prints a warning that the pages in them are not counted.
func concerned(cmd *cobra.Command, a *system.Attached, targets []target) (stored int, err error) {
	inForce, err := a.Settings.Get(cmd.Context())
	if err != nil {
		return 0, err
	}
	books, err := account.Survey(cmd.Context(), a.Bucket, inForce)
	if err != nil {
		return 0, err
	}
	for _, t := range targets {
		if !t.site && slices.ContainsFunc(targets, func(o target) bool { return o.site && o.address.Site == t.address.Site }) {
			continue // counted with its site
		}
		about := layout.Range{From: t.address.Place, To: t.address.Place + 1}
		if t.site {
			about = t.address.Place.SiteRange()
		}
		for part, err := range books.Ranges(cmd.Context(), about) {
			if err != nil {
				return 0, err
			}
			n, err := storedOf(part, t)
			if err != nil {
				return 0, err
			}
			stored += n
		}
	}
	for _, fault := range books.Faults() {
		tellFaults(cmd, []string{fault.Error()})
	}
	return stored, nil
}

// storedOf returns the number of stored pages of a target among the URLs of an account.
func storedOf(part *account.Account, t target) (stored int, err error) {
	for u, err := range part.All() {
		if err != nil {
			return 0, err
		}
		if u.State == account.Stored && (u.Address.ID == t.address.ID || t.site && u.Address.Site == t.address.Site) {
			stored++
		}
	}
	return stored, nil
}

// confirmed asks a question on the terminal, and reports whether the answer is yes. If
// standard input is no terminal, it returns false.
func confirmed(cmd *cobra.Command, question string) bool {
	file, isFile := cmd.InOrStdin().(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return false
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", question)
	answer, _ := bufio.NewReader(file).ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(answer), "y") || strings.EqualFold(strings.TrimSpace(answer), "yes")
}
