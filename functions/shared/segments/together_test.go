package segments

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

func TestApart(t *testing.T) {
	for _, c := range []struct {
		documents, hosts int
		want             *manifest.Apart
	}{
		{0, 0, nil},
		{1, 1, &manifest.Apart{Pages: 1, Hosts: 1}},
		{HostPages - 1, 1, &manifest.Apart{Pages: HostPages - 1, Hosts: 1}},
		{HostPages, 1, nil},
		{HostPages, 2, &manifest.Apart{Pages: HostPages, Hosts: 2}},
		{40, mostPages / HostPages, &manifest.Apart{Pages: 40, Hosts: mostPages / HostPages}},
		{40, mostPages/HostPages + 1, nil},
	} {
		if diff := cmp.Diff(c.want, Apart(c.documents, c.hosts)); diff != "" {
			t.Errorf("%d documents of %d hosts (-want +got):\n%s", c.documents, c.hosts, diff)
		}
	}
}

func TestTogether(t *testing.T) {
	pkg := func(id uint32, pages, hosts int) manifest.Package {
		return manifest.Package{ID: id, Pages: pages, Bytes: 1, Indexed: true, Apart: &manifest.Apart{Pages: pages, Hosts: hosts}}
	}
	whole := manifest.Package{ID: 7, Pages: 1000, Indexed: true}
	waiting := manifest.Package{ID: 8, Pages: 1}
	large := func(id uint32) manifest.Package {
		p := pkg(id, 3, 1)
		p.Bytes = mostBytes
		return p
	}
	var many []manifest.Package
	for id := range uint32(mostPages) {
		many = append(many, pkg(id, 2, mostPages/HostPages))
	}
	for name, c := range map[string]struct {
		packages   []manifest.Package
		now, ended int // number of packages, the oldest ones, that are made together in a crawl and after its end
	}{
		"nothing":                           {nil, 0, 0},
		"only whole packages":               {[]manifest.Package{whole}, 0, 0},
		"too few pages of all":              {[]manifest.Package{pkg(0, 1, 1), pkg(1, HostPages/2-2, 1)}, 0, 0},
		"enough for anything":               {[]manifest.Package{pkg(0, 1, 1), pkg(1, HostPages/2-1, 1)}, 0, 2},
		"enough":                            {[]manifest.Package{pkg(0, 1, 1), pkg(1, HostPages-1, 1)}, 2, 2},
		"not of two hosts":                  {[]manifest.Package{pkg(0, 1, 1), pkg(1, HostPages-1, 2)}, 0, 2},
		"few after a whole package":         {[]manifest.Package{whole, pkg(1, 1, 1)}, 0, 1},
		"one waits for index":               {[]manifest.Package{pkg(0, HostPages-1, 1), waiting}, 0, 0},
		"one waits, and the others suffice": {[]manifest.Package{pkg(0, 2, 1), pkg(1, HostPages-2, 1), waiting}, 2, 2},
		"as many bytes as are read":         {[]manifest.Package{large(0), pkg(1, 1, 1), pkg(2, 1, 1)}, 1, 1},
		"as many pages as are made":         {many, mostPages / 2, mostPages / 2},
	} {
		m := &manifest.Manifest{Packages: c.packages}
		if now, ended := len(Together(m, false)), len(Together(m, true)); now != c.now || ended != c.ended {
			t.Errorf("%s: %d, at the end %d; want %d, %d", name, now, ended, c.now, c.ended)
		}
	}
}
