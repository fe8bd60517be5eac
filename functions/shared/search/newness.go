package search

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// newWords are the words by which a query asks for new pages, by language.
var newWords = map[string][]string{
	"ar": {"أحدث", "آخر", "اليوم", "أخبار"},
	"de": {"neueste", "neuester", "neuestes", "neuesten", "aktuell", "aktuelle", "aktueller", "aktuelles", "aktuellen", "heute", "nachrichten"},
	"en": {"latest", "newest", "recent", "recently", "today", "news"},
	"es": {"últimas", "últimos", "reciente", "recientes", "hoy", "noticias", "novedades"},
	"fr": {"dernières", "derniers", "récent", "récente", "récents", "récentes", "récemment", "actualités", "nouveautés"},
	"hi": {"नवीनतम", "ताज़ा", "समाचार"},
	"it": {"ultime", "ultimi", "recente", "recenti", "oggi", "notizie", "novità"},
	"ja": {"最新", "今日", "ニュース"},
	"nl": {"nieuwste", "laatste", "recente", "vandaag", "nieuws"},
	"pt": {"últimas", "últimos", "recente", "recentes", "hoje", "notícias", "novidades"},
	"ru": {"последние", "новейшие", "свежие", "сегодня", "новости"},
	"zh": {"最新", "最近", "今天", "新闻", "新聞"},
}

// asksForNew reports whether the text of a query asks for new pages, by a word of newWords in one of
// the languages in which the query may be written. In Chinese and Japanese the text need only contain
// the word, because no spaces show where words begin.
func (p *plan) asksForNew(text string) bool {
	text = strings.ToLower(text)
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	return slices.ContainsFunc(p.languages, func(l queryLanguage) bool {
		return slices.ContainsFunc(newWords[l.name], func(word string) bool {
			return slices.Contains(words, word) || (l.name == "zh" || l.name == "ja") && strings.Contains(text, word)
		})
	})
}

// prefersNew reports whether new pages get a bonus (see addNewness).
func (s *search) prefersNew() bool {
	return s.plan.fresh && !s.plan.images && s.query.Size > 0 && !s.byDate()
}

// ownDates holds, for each document of a part of the index, the date that the page itself states (see the
// column segment.OwnDates). It is the number of days since 1970, plus 1; 0 if the page states no date.
type ownDates []uint16

// readDates sets s.dates[part] to the dates that the pages of this part (segment of the index) state for
// themselves.
func (s *search) readDates(ctx context.Context, part int) (err error) {
	s.dates[part], err = s.ownDates(ctx, part)
	return err
}

// ownDates returns the dates that the pages of a part (segment of the index) state for themselves. It takes them
// from the cache, or reads them. A URL without a stored page has no date.
func (g *gathered) ownDates(ctx context.Context, part int) (ownDates, error) {
	from := g.parts[part]
	if from.Unvisited {
		return make(ownDates, from.Segment.Documents()), nil
	}
	key := from.Segment.Ref().Key
	if known := g.memory.ownDates(key); known != nil {
		return known, nil
	}
	days, err := from.Segment.Numbers(ctx, segment.OwnDates)
	if err != nil {
		return nil, err
	}
	dates := make(ownDates, len(days))
	for i, day := range days {
		dates[i] = uint16(min(day, math.MaxUint16))
	}
	g.memory.putOwnDates(key, dates)
	return dates, nil
}

// dateOf returns the date that a match's page states for itself: the number of days since 1970, plus 1. It
// returns 0 if no date is known.
func (s *search) dateOf(f match) int {
	if k, is := s.carried[spot{f.part, f.doc}]; is {
		return k.date
	}
	return s.dates[f.part].of(f.doc)
}

// of returns the date of a document; 0 if none is known.
func (d ownDates) of(doc uint32) int {
	if int(doc) >= len(d) {
		return 0
	}
	return int(d[doc])
}

// knownDate returns the date that a match's page states for itself, if the dates of its segment are in memory
// already; otherwise, or if the page states none, the zero time. It is used for stored documents without a date of
// their own: an earlier version of the program stored the dates in a column only.
func (s *search) knownDate(f match) time.Time {
	dates := s.ix.memory.ownDates(s.parts[f.part].Segment.Ref().Key)
	if dates == nil || dates[f.doc] == 0 {
		return time.Time{}
	}
	return dayOf(int(dates[f.doc]))
}

// dayOf converts a day, as the column segment.OwnDates has it (the number of days since 1970, plus 1), to the
// beginning of this day in UTC.
func dayOf(day int) time.Time { return time.Unix(int64(day-1)*24*60*60, 0).UTC() }

// halfLife is the difference in days between the dates of two pages at which the older page gets half
// the bonus of the newer one.
const halfLife = 365

// addNewness adds the bonus for new pages to the scores of the best matches, and sorts these again.
// The bonus is Weights.Newness · score · 2^(−age/halfLife). The age is counted from the newest of
// these matches, not from today, so a query gives the same result tomorrow. A page without a date
// gets no bonus. Only the best matches get a bonus, as many as the function examined returns.
func (s *search) addNewness(best []match) {
	best = best[:examined(best)]
	newest := 0
	for _, f := range best {
		newest = max(newest, s.dateOf(f))
	}
	for i, f := range best {
		if at := s.dateOf(f); at > 0 {
			best[i].newness = s.plan.weights.Newness * f.score * math.Exp2(-float64(newest-at)/halfLife)
			best[i].score += best[i].newness
		}
	}
	slices.SortFunc(best, byScore)
}

// explainNewness returns the explanation of a match's bonus for new pages.
func (s *search) explainNewness(f match) Explanation {
	return Explanation{What: "newness: the page is of " + dayOf(s.dateOf(f)).Format(time.DateOnly), Value: f.newness}
}
