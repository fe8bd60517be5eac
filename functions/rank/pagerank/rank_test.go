package pagerank

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plain returns the rules of PageRank as published: without a cap on what one site gives.
func plain(epsilon float64) Rules {
	return Rules{Damping: 0.85, Epsilon: epsilon}
}

// graphOf returns a graph of links that are in the texts of pages, not in templates such as
// navigation. Each link is a pair: source, target.
func graphOf(t testing.TB, sites []uint32, links ...[2]uint32) *Graph {
	t.Helper()
	var all []Link
	for _, l := range links {
		all = append(all, NewLink(l[0], l[1], false))
	}
	return mustNew(t, sites, all)
}

func mustNew(t testing.TB, sites []uint32, parts ...[]Link) *Graph {
	t.Helper()
	var ends []int
	for _, links := range parts {
		ends = append(ends, 0)
		if len(ends) > 1 {
			ends[len(ends)-1] = ends[len(ends)-2]
		}
		for _, l := range links {
			ends[len(ends)-1] = max(ends[len(ends)-1], int(l.Target())+1)
		}
	}
	if len(ends) > 0 {
		ends[len(ends)-1] = len(sites)
	}
	g, err := New(sites, t.TempDir(), ends, func(part int) ([]Link, error) { return slices.Clone(parts[part]), nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func ranks(t testing.TB, g *Graph, r Rules) []float64 {
	t.Helper()
	got, _, err := g.Rank(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, rank := range got {
		sum += rank
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the ranks sum to %.15f", sum)
	}
	return got
}

// apart returns sites for n pages, each page on a site of its own.
func apart(n int) []uint32 {
	sites := make([]uint32, n)
	for i := range sites {
		sites[i] = uint32(i)
	}
	return sites
}

// TestKnown checks the ranks of graphs whose ranks can be computed by hand.
func TestKnown(t *testing.T) {
	for name, test := range map[string]struct {
		links [][2]uint32
		want  []float64
	}{
		"no links":             {nil, []float64{1. / 3, 1. / 3, 1. / 3}},
		"a circle":             {[][2]uint32{{0, 1}, {1, 2}, {2, 0}}, []float64{1. / 3, 1. / 3, 1. / 3}},
		"two vote for a third": {[][2]uint32{{0, 2}, {1, 2}}, []float64{20. / 94, 20. / 94, 54. / 94}}, // the last has no links: a = (.15 + .85(1−2a))/3
		"equal links":          {[][2]uint32{{0, 2}, {1, 2}, {0, 2}, {0, 2}}, []float64{20. / 94, 20. / 94, 54. / 94}},
		"of itself":            {[][2]uint32{{0, 0}, {1, 0}, {2, 0}}, []float64{0.9, 0.05, 0.05}},
		"back and forth":       {[][2]uint32{{0, 1}, {1, 0}, {2, 0}}, []float64{18 / 37., 0.95 - 18/37., 0.05}}, // a + b = .95, a = .05 + .85(b + .05)
	} {
		t.Run(name, func(t *testing.T) {
			got := ranks(t, graphOf(t, apart(3), test.links...), plain(1e-14))
			for page, want := range test.want {
				if math.Abs(got[page]-want) > 1e-12 {
					t.Errorf("page %d has %.15f, want %.15f", page, got[page], want)
				}
			}
		})
	}
}

// dense returns the ranks of plain PageRank, computed exactly by Gaussian elimination.
func dense(pages int, damping float64, links [][2]uint32) []float64 {
	out := make([]map[uint32]bool, pages)
	for _, l := range links {
		if out[l[0]] == nil {
			out[l[0]] = make(map[uint32]bool)
		}
		out[l[0]][l[1]] = true
	}
	a := make([][]float64, pages) // (1 − d·P)·rank = (1 − d)/N, and in the last column the right side
	for t := range a {
		a[t] = make([]float64, pages+1)
		a[t][t], a[t][pages] = 1, (1-damping)/float64(pages)
		for s := range out {
			switch {
			case out[s] == nil:
				a[t][s] -= damping / float64(pages)
			case out[s][uint32(t)]:
				a[t][s] -= damping / float64(len(out[s]))
			}
		}
	}
	for i := range a {
		for k := range a {
			if factor := a[k][i] / a[i][i]; k != i {
				for j := i; j <= pages; j++ {
					a[k][j] -= factor * a[i][j]
				}
			}
		}
	}
	solution := make([]float64, pages)
	for i := range a {
		solution[i] = a[i][pages] / a[i][i]
	}
	return solution
}

func randomLinks(random *rand.Rand, pages, n int) (links [][2]uint32) {
	for range n {
		links = append(links, [2]uint32{uint32(random.IntN(pages)), uint32(random.IntN(1 + random.IntN(pages)))})
	}
	return links
}

func TestEqualsLinearSolution(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		pages := 2 + random.IntN(60)
		links := randomLinks(random, pages, random.IntN(3*pages))
		got := ranks(t, graphOf(t, apart(pages), links...), plain(1e-13))
		for page, want := range dense(pages, 0.85, links) {
			if math.Abs(got[page]-want) > 1e-11 {
				t.Fatalf("seed %d: page %d has %.15f, want %.15f", seed, page, got[page], want)
			}
		}
	}
}

// TestDefaultsArePlain checks that the default rules give the same ranks as plain PageRank in two
// cases: if each page is a site of its own, and if all pages are of one site.
func TestDefaultsArePlain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	links := randomLinks(random, 300, 3000)
	want := ranks(t, graphOf(t, apart(300), links...), plain(1e-12))
	rules := DefaultRules()
	rules.Epsilon = 1e-12
	for name, sites := range map[string][]uint32{"sites of one page": apart(300), "one site": make([]uint32, 300)} {
		if got := ranks(t, graphOf(t, sites, links...), rules); distance(got, want) > 1e-10 {
			t.Errorf("%s: the ranks differ by %g", name, distance(got, want))
		}
	}
}

func distance(a, b []float64) (sum float64) {
	for i := range a {
		sum += math.Abs(a[i] - b[i])
	}
	return sum
}

// TestOrderAndParts builds the graph of the same links in other orders and divided into other
// parts, and checks that the ranks are the same, bit by bit.
func TestOrderAndParts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	sites := make([]uint32, 400)
	for page := range sites {
		sites[page] = uint32(page / 40)
	}
	var links []Link
	for _, l := range randomLinks(random, len(sites), 5000) {
		links = append(links, NewLink(l[0], l[1], random.IntN(3) == 0))
	}
	whole := mustNew(t, sites, slices.Clone(links))
	want := ranks(t, whole, DefaultRules())
	random.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	parts := make([][]Link, 5) // the third part is empty
	for _, l := range links {
		i := []int{0, 1, 3, 4}[l.Target()/100]
		parts[i] = append(parts[i], l)
	}
	divided := mustNew(t, sites, parts...)
	if divided.Links() != whole.Links() {
		t.Errorf("%d links in parts, %d in one", divided.Links(), whole.Links())
	}
	got := ranks(t, divided, DefaultRules())
	if distance(got, want) > 1e-15 {
		t.Errorf("in parts the ranks differ by %g", distance(got, want))
	}
	if again := ranks(t, divided, DefaultRules()); !slices.Equal(again, got) {
		t.Error("the same graph gives other ranks")
	}
}

func TestRefusals(t *testing.T) {
	for _, r := range []Rules{{Damping: 1, Epsilon: 1}, {Damping: -1, Epsilon: 1}, {Damping: 0.5}} {
		if _, _, err := graphOf(t, apart(2)).Rank(t.Context(), r); err == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
	if got, _, err := mustNew(t, nil).Rank(t.Context(), DefaultRules()); err != nil || len(got) > 0 {
		t.Errorf("no pages have the ranks %v, %v", got, err)
	}
}
