package rank

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/rank/translation"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// learning is the state of one run of the rank function while it learns dictionaries.
type learning struct {
	*Function
	home *partition.Partition // the partition whose manifest lists the dictionaries of all partitions
	// version of the takedowns in force when the run began; pages that these takedowns cover are
	// left out
	forgotten uint64
	found     *translations
	damaged   bool // whether some texts were left out because they cannot be read
}

// learnDictionaries learns dictionaries for each pair of languages with enough pages that are
// translations of each other (see leastPages): one dictionary in each direction. It commits them
// pair by pair. So if this run is killed, the next run continues with the pairs that are not
// committed yet.
//
// A dictionary that the manifest lists is learnt again in three cases: it was learnt by older rules
// (see dictionaryRules), some texts could not be read, or the number of its pages has changed by
// more than a tenth. Smaller changes are not worth the seconds that learning takes.
func (f *Function) learnDictionaries(ctx context.Context, all []*partition.Partition, forgotten takedown.Set) error {
	l := learning{Function: f, home: all[0], forgotten: forgotten.Version}
	if i := slices.IndexFunc(all, func(p *partition.Partition) bool { return p.Manifest().Dictionaries != nil }); i >= 0 {
		l.home = all[i]
	}
	of := f.nameTranslated(all)
	if d := l.home.Manifest().Dictionaries; d != nil && d.Of == of {
		return nil
	}
	var err error
	if l.found, err = f.findTranslations(ctx, all, forgotten); err != nil {
		return err
	}
	var omitted []string
	if l.found.cut > 0 {
		omitted = append(omitted, fmt.Sprintf("%d documents beyond %d that may be translations", l.found.cut, f.Limits.Translated))
	}
	pairs := l.found.pairs()
	if n := len(pairs); n > f.Limits.Dictionaries {
		omitted = append(omitted, fmt.Sprintf("%d of %d pairs of languages", n-f.Limits.Dictionaries, n))
		pairs = pairs[:f.Limits.Dictionaries]
	}
	wanted := make(map[[2]string]bool)
	limits := f.Limits.Translation
	limits.Pairs = min(limits.Pairs, f.Limits.Work/max(1, len(pairs)))
	for _, pair := range pairs {
		a, b := l.found.languages[pair.languages[0]], l.found.languages[pair.languages[1]]
		wanted[[2]string{a, b}], wanted[[2]string{b, a}] = true, true
		if l.isKnown(a, b, pair.pages) && l.isKnown(b, a, pair.pages) {
			continue
		}
		if err := l.learn(ctx, pair, limits); err != nil {
			return fmt.Errorf("cannot learn the dictionaries of %s and %s: %w", a, b, err)
		}
	}
	if l.damaged || l.found.damaged {
		of = "" // the next run tries again
	}
	return l.commit(ctx, func(e *partition.Edit) error {
		before := e.Manifest().Dictionaries
		if before == nil && len(wanted) == 0 && of == "" {
			return partition.ErrUnchanged
		}
		keep := func(d manifest.Dictionary) bool { return wanted[[2]string{d.From, d.To}] }
		if before != nil && before.Of == of && slices.Equal(before.Omitted, omitted) && !slices.ContainsFunc(before.All, func(d manifest.Dictionary) bool { return !keep(d) }) {
			return partition.ErrUnchanged
		}
		e.SetDictionaries(of, omitted, keep)
		return nil
	})
}

// dictionaryRules is the version of the rules by which dictionaries are learnt. It must be raised
// whenever a rule changes, so that all dictionaries are learnt again.
const dictionaryRules = 1

// nameTranslated returns a hash of everything on which the dictionaries depend: dictionaryRules,
// the limits and the keys of all indexed packages. The manifest stores the hash of the last run as
// Dictionaries.Of. If the hash is still the same, there is nothing new to learn.
func (f *Function) nameTranslated(all []*partition.Partition) string {
	keys := slices.Sorted(slices.Values(indexed(all)))
	l := f.Limits
	return layout.ContentHash(fmt.Appendf(nil, "%d %d %d %d %d %v %s", dictionaryRules, l.Translated, l.Dictionaries, l.Pages, l.Work, l.Translation, strings.Join(keys, " ")))
}

// isKnown reports whether the dictionary from one language to another need not be learnt again.
// There are two conditions. The manifest lists the dictionary as learnt by the present rules. And
// the number of pages from which it was learnt differs by at most a tenth from the parameter pages,
// the number of pages from which it would be learnt now.
func (l *learning) isKnown(from, to string, pages int) bool {
	d := l.home.Manifest().Dictionaries.Between(from, to)
	return d != nil && d.Rules == dictionaryRules && 10*max(pages-d.Pages, d.Pages-pages) <= d.Pages
}

// batch is the number of pairs of pages (a page and its translation) that are read at a time.
const batch = 50

// learn learns and commits the two dictionaries of a pair of languages.
func (l *learning) learn(ctx context.Context, pair languagePair, limits translation.Limits) error {
	began := l.Now()
	a, b := l.found.languages[pair.languages[0]], l.found.languages[pair.languages[1]]
	learner := translation.NewLearner(a, b, limits)
	both, rules := l.found.of(pair, l.Limits.Pages), dictionaryRules
	for some := range slices.Chunk(both, batch) {
		var pages []translatedPage
		for _, page := range some {
			pages = append(pages, page[:]...)
		}
		documents, damage, err := l.found.read(ctx, pages)
		if err != nil {
			return err
		}
		for _, err := range damage {
			l.damaged, rules = true, 0 // so that these dictionaries are not known to the next run
			l.Log.ErrorContext(ctx, "a dictionary is learnt without some pages", "from", a, "to", b, "error", err)
		}
		for i := 0; i < len(documents); i += 2 {
			page, other := documents[i], documents[i+1]
			learner.Add(translation.Text{Title: page.Title, Body: page.Body}, translation.Text{Title: other.Title, Body: other.Body})
		}
	}
	forth, back, summary, err := learner.Learn(ctx)
	if err != nil {
		return err
	}
	omitted := summary.Omitted()
	if n := pair.pages - len(both); n > 0 {
		omitted = append([]string{fmt.Sprintf("%d of %d pages", n, pair.pages)}, omitted...)
	}
	for _, text := range omitted {
		l.Log.InfoContext(ctx, "a dictionary is learnt within limits", "from", a, "to", b, "omitted", text)
	}
	l.Log.InfoContext(ctx, "learnt dictionaries", "from", a, "to", b, "pages", len(both), "sentences", summary.Sentences,
		"terms", len(forth), "back", len(back), "took", l.Now().Sub(began))
	directions := []struct {
		from, to string
		entries  []dictionary.Entry
	}{{a, b, forth}, {b, a, back}}
	var contents [2][]byte
	for i, d := range directions {
		if contents[i], err = dictionary.Encode(d.from, d.to, d.entries); err != nil {
			return err
		}
	}
	return l.commit(ctx, func(e *partition.Edit) error {
		for i, d := range directions {
			entry := manifest.Dictionary{
				From: d.from, To: d.to, Terms: len(d.entries), Pages: pair.pages,
				Sentences: summary.Sentences, Rules: rules, Omitted: omitted,
			}
			if err := e.SetDictionary(ctx, entry, contents[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// commit commits an edit of the list of dictionaries. It fails with partition.ErrStale if a
// takedown was applied since the run began. The dictionaries could then have words of pages that
// must be forgotten.
func (l *learning) commit(ctx context.Context, edit func(*partition.Edit) error) error {
	return l.home.Commit(ctx, func(e *partition.Edit) error {
		if e.Manifest().Forgotten > l.forgotten {
			return partition.ErrStale
		}
		return edit(e)
	})
}
