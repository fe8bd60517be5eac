package index

// dropRepeatedImages finds images that a host repeats on its pages, such as a logo, and removes
// each from all of these pages but the first: such an image says nothing about the pages, and would
// fill the index. An image counts as repeated if it is on at least minPages of the host's pages,
// and on at least the share minShare of them. The parameter pages has the pages of a segment
// and its witnesses (see maker.finish), sorted by site and URL.
func dropRepeatedImages(pages []*draft) {
	for host := range byStart(pages, 1) {
		least := max(minPages, int(minShare*float64(len(host))))
		if len(host) < least {
			continue
		}
		counts := make(map[string]int)
		for _, p := range host {
			for i := range p.Images {
				counts[p.Images[i].URL]++
			}
		}
		for _, p := range host {
			kept := p.Images[:0]
			for _, image := range p.Images {
				n := counts[image.URL]
				if n >= least {
					counts[image.URL] = -1 // the first page keeps the image
				}
				if n >= 0 {
					kept = append(kept, image)
				}
			}
			p.Images = kept
		}
	}
}
