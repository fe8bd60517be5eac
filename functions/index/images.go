package index

// dropRepeatedImages keeps an image that a host repeats on its pages, such as a logo, only on the
// first of these pages, because such an image tells nothing of the others, and they would fill the
// index with it. An image is repeated if it is on at least minPages pages of the host, and on at
// least the share minShare of them. The pages are those of one package, sorted by site and URL,
// and the result depends on them alone.
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
