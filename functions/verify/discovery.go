package verify

import "github.com/bucketsearch/bucketsearch/layout"

// lonely is told of every URL with an outcome to which no seed or link leads.
func (v *run) lonely(url string, p layout.Partition) {
	v.count(func(r *Report) {
		if r.Waiting.Find++; r.Waiting.Find <= MaxProblems {
			v.undiscovered = append(v.undiscovered, Problem{Kind: Unaccounted, Partition: p, URL: url,
				Detail: "has an outcome, yet no seed or link leads to it"})
		}
	})
}

// judgeLonely checks that every URL with an outcome was discovered. A link can
// be gone for two reasons: the page on which it stood is forgotten, or the book
// that told of it was lost. A lost book takes the outcome of that page along,
// so the page waits to be fetched, and the link to be found again.
func (v *run) judgeLonely() {
	waiting := &v.report.Waiting
	if waiting.Fetch > 0 || !v.settings.Takedowns.Empty() || v.incomplete() {
		return
	}
	for _, p := range v.undiscovered {
		v.problems.add(p)
	}
	v.problems.more += waiting.Find - len(v.undiscovered)
	waiting.Find = 0
}
