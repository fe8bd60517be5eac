package pagerank

import (
	"math"
	"testing"
)

// farmed is a graph of forty honest sites with five pages each, and of one site with a link farm.
// The farm has n pages, which raise the rank of page 0 of their site. They link to page 0 directly
// or through each other (see arrangements). Six honest sites link to page 0 of the first honest
// site.
type farmed struct {
	sites []uint32
	links []Link
	farm  uint32 // number of the farm's page 0
}

func newFarm(n int, arrange func(farm uint32, i, n int) []Link) farmed {
	var f farmed
	for site := range uint32(40) {
		home := uint32(len(f.sites))
		for i := range uint32(5) {
			f.sites = append(f.sites, site)
			if i > 0 {
				f.links = append(f.links, NewLink(home, home+i, false), NewLink(home+i, home, true))
			}
		}
		if site > 0 && site <= 6 {
			f.links = append(f.links, NewLink(home+1, 0, false))
		}
	}
	f.farm = uint32(len(f.sites))
	f.sites = append(f.sites, 40)
	for i := range n {
		f.sites = append(f.sites, 40)
		f.links = append(f.links, arrange(f.farm, i, n)...)
	}
	return f
}

// arrangements are ways to link the pages of a link farm: functions that return the links of page i
// of a farm of n pages. The parameter farm is the number of the page whose rank the farm raises.
var arrangements = map[string]func(farm uint32, i, n int) []Link{
	"all to one": func(farm uint32, i, _ int) []Link { return []Link{NewLink(farm+1+uint32(i), farm, false)} },
	"to and fro": func(farm uint32, i, _ int) []Link {
		return []Link{NewLink(farm+1+uint32(i), farm, false), NewLink(farm, farm+1+uint32(i), false)}
	},
	"a tree": func(farm uint32, i, _ int) []Link { return []Link{NewLink(farm+1+uint32(i), farm+uint32(i/4), false)} },
	"a ladder": func(farm uint32, i, n int) []Link {
		last := uint32(math.Sqrt(float64(n)))
		if uint32(i) < last {
			return []Link{NewLink(farm+1+uint32(i), farm, false)}
		}
		return []Link{NewLink(farm+1+uint32(i), farm+1+uint32(i)%last, false)}
	},
}

// TestFarmDoesNotPay makes link farms in one site, of several sizes and arrangements. The page that
// the farm supports must have a lower rank than a page to which six sites link. And a large farm
// must give this page hardly more rank, relative to the mean, than a farm of ten pages does.
func TestFarmDoesNotPay(t *testing.T) {
	best := func(t *testing.T, n int, arrange func(uint32, int, int) []Link, sitesOf func(int) []uint32) (farm, honest float64) {
		f := newFarm(n, arrange)
		if sitesOf != nil {
			f.sites = sitesOf(len(f.sites))
		}
		got := ranks(t, mustNew(t, f.sites, f.links), DefaultRules())
		return got[f.farm] * float64(len(f.sites)), got[0] * float64(len(f.sites))
	}
	for name, arrange := range arrangements {
		t.Run(name, func(t *testing.T) {
			small, _ := best(t, 10, arrange, nil)
			for _, n := range []int{100, 1000, 10_000} {
				if farm, honest := best(t, n, arrange, nil); farm > honest || farm > 1.5*small {
					t.Errorf("%d pages: %.3f times the mean, and the honest page %.3f; ten pages: %.3f", n, farm, honest, small)
				}
			}
			if farm, honest := best(t, 1000, arrange, apart); farm < honest {
				t.Errorf("if its pages were sites, it would have %.3f times the mean, and the honest page %.3f: the test proves nothing", farm, honest)
			}
		})
	}
}

// TestFarmForAnother makes a link farm on one site, with links to one page of another site. A farm
// of a thousand pages must give this page hardly more rank, relative to the mean, than a farm of
// ten.
func TestFarmForAnother(t *testing.T) {
	rankOf := func(n int) float64 {
		f := newFarm(n, func(farm uint32, i, _ int) []Link { return []Link{NewLink(farm+1+uint32(i), 199, false)} })
		return ranks(t, mustNew(t, f.sites, f.links), DefaultRules())[199] * float64(len(f.sites))
	}
	if ten, thousand := rankOf(10), rankOf(1000); thousand > 1.5*ten {
		t.Errorf("ten pages give %.3f times the mean, a thousand %.3f", ten, thousand)
	}
}

// TestTemplates checks that links which a site repeats on all its pages count together as one link,
// whether they are marked as navigation or not. They must not weaken the other links of these
// pages.
func TestTemplates(t *testing.T) {
	const pages = 100
	ranksOf := func(sites []uint32, marked bool) []float64 {
		var links []Link
		for page := range uint32(pages) {
			links = append(links, NewLink(page, 0, marked), NewLink(page, 1, marked), NewLink(page, page/10+10, false))
		}
		got := ranks(t, mustNew(t, sites, links), DefaultRules())
		for page := range got {
			got[page] *= pages
		}
		return got
	}
	plainly := ranksOf(apart(pages), false)
	for name, marked := range map[string]bool{"marked": true, "repeated": false} {
		t.Run(name, func(t *testing.T) {
			got := ranksOf(make([]uint32, pages), marked)
			if got[1] > 1.2 || plainly[1] < 10 {
				t.Errorf("what navigation names has %.3f times the mean, and without the rule %.3f", got[1], plainly[1])
			}
			if got[11] < 2*plainly[11] || got[11] < 5 {
				t.Errorf("what ten texts name has %.3f times the mean, and without the rule %.3f", got[11], plainly[11])
			}
		})
	}
}
