package book

import "slices"

// Standing is what counts of all the outcomes of one URL; the others are
// superseded. The order in which they are added does not matter. A part is nil
// where there is no such outcome.
type Standing struct {
	Final *Outcome // the highest final one
	Page  *Outcome // the highest that is Stored or Lost: where the page is, if anywhere
	Asked *Outcome // the highest that is not final; it counts if it is higher than Final
}

// Add adds an outcome of the URL, which must not be changed afterwards, if it
// supersedes one of its sort.
func (s *Standing) Add(o *Outcome) {
	supersede := func(known **Outcome) {
		if *known == nil || o.Supersedes(**known) {
			*known = o
		}
	}
	if !o.State.Final() {
		supersede(&s.Asked)
		return
	}
	supersede(&s.Final)
	if o.State == Stored || o.State == Lost {
		supersede(&s.Page)
	}
}

// outcomes returns those that count, sorted.
func (s *Standing) outcomes() []Outcome {
	var all []Outcome
	if s.Page != nil && s.Page != s.Final {
		all = append(all, *s.Page)
	}
	if s.Final != nil {
		all = append(all, *s.Final)
	}
	if s.Asked != nil && (s.Final == nil || s.Asked.Version.Compare(s.Final.Version) > 0) {
		all = append(all, *s.Asked)
	}
	slices.SortFunc(all, Outcome.Compare)
	return all
}
