// Package eval measures how well the search answers queries. It uses a test collection: documents,
// queries, and judgments that say which documents answer which query.
//
//	docs.jsonl    {"id": "184", "title": "…", "text": "…"}    a document a line
//	queries.tsv   1⇥what problems of heat conduction …        number, text
//	qrels.tsv     1⇥184⇥3                                     query, document, grade (0: no answer)
//
// The documents are indexed in memory as the function index does it for pages. Without docs.jsonl
// the queries are run on the index in a bucket, and qrels.tsv names documents by their URLs. A
// query's text is searched as it stands.
package eval

import (
	"cmp"
	"math"
	"slices"
)

// How many results of a query the measures use.
const (
	cumulated = 10  // number of the best results, from which nDCG is computed
	recalled  = 100 // number of results that are requested for each query; all measures but nDCG are computed from these
)

// Figures are the measures of one query, or their means over several (Manning,
// Raghavan and Schütze, Introduction to Information Retrieval, 2008, 8.4). All are
// between 0 and 1.
type Figures struct {
	NDCG   float64 `json:"ndcg@10"`    // nDCG of the first 10 results, with gain 2^grade − 1 and discount log2(place + 1)
	MAP    float64 `json:"map"`        // average precision of the first 100 results
	Recall float64 `json:"recall@100"` // share of the relevant documents that are among the first 100 results
	MRR    float64 `json:"mrr"`        // 1 ÷ place of the first relevant document among the first 100 results; 0 if there is none
}

// each calls the function do once for each of the four measures: NDCG, MAP, Recall and MRR. In the
// call for NDCG, values[i] is &all[i].NDCG, and so on. So do can read and change the values.
func each(all []*Figures, do func(values []*float64)) {
	for _, field := range []func(*Figures) *float64{
		func(f *Figures) *float64 { return &f.NDCG }, func(f *Figures) *float64 { return &f.MAP },
		func(f *Figures) *float64 { return &f.Recall }, func(f *Figures) *float64 { return &f.MRR },
	} {
		values := make([]*float64, len(all))
		for i, f := range all {
			values[i] = field(f)
		}
		do(values)
	}
}

// measure returns the figures of a query. results are the ids of the documents found, the best
// first; grades are the grades of the relevant documents by id (see Query.Grades).
func measure(results []string, grades map[string]int) (f Figures) {
	answers := 0
	var ideal []int
	for _, grade := range grades {
		if grade > 0 {
			answers++
			ideal = append(ideal, grade)
		}
	}
	if answers == 0 {
		return f
	}
	slices.SortFunc(ideal, func(a, b int) int { return cmp.Compare(b, a) })
	gain, best, found := 0.0, 0.0, 0
	for i, grade := range ideal[:min(len(ideal), cumulated)] {
		best += discounted(grade, i)
	}
	for i, id := range results[:min(len(results), recalled)] {
		grade := grades[id]
		if grade <= 0 {
			continue
		}
		if found++; found == 1 {
			f.MRR = 1 / float64(i+1)
		}
		f.MAP += float64(found) / float64(i+1)
		if i < cumulated {
			gain += discounted(grade, i)
		}
	}
	f.NDCG = gain / best
	f.MAP /= float64(answers)
	f.Recall = float64(found) / float64(answers)
	return f
}

// discounted returns the contribution of one result to the discounted cumulated gain (DCG). The
// parameter grade is the grade of the document; the parameter place is the number of results before
// it (Järvelin and Kekäläinen, Cumulated Gain-Based Evaluation, 2002, with the gain of Burges et
// al., 2005).
func discounted(grade, place int) float64 {
	return (math.Exp2(float64(grade)) - 1) / math.Log2(float64(place+2))
}

// mean returns the mean of each measure over the given figures, and half the width of the 95 %
// confidence interval of each mean (normal approximation).
func mean(all []Figures) (average, interval Figures) {
	n := float64(len(all))
	if n == 0 {
		return average, interval
	}
	add := func(to *Figures, f Figures, of func(float64) float64) {
		each([]*Figures{to, &f}, func(v []*float64) { *v[0] += of(*v[1]) / n })
	}
	for _, f := range all {
		add(&average, f, func(x float64) float64 { return x })
	}
	for _, f := range all {
		each([]*Figures{&f, &average}, func(v []*float64) { *v[0] -= *v[1] })
		add(&interval, f, func(x float64) float64 { return x * x })
	}
	each([]*Figures{&interval}, func(v []*float64) { *v[0] = 1.96 * math.Sqrt(*v[0]/n) })
	return average, interval
}
