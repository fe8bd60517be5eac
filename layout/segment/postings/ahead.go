package postings

// Shallow finds the block that could hold doc (not before the current one)
// without decoding it or moving, and returns the block's last document, NoMore
// behind the end.
func (it *Iterator) Shallow(doc uint32) (last uint32) {
	blocks := it.list.blocks
	least := max(it.block, 0)
	it.shallow = max(it.shallow, least)
	switch {
	case doc > blocks[it.shallow].last:
		it.shallow = it.find(doc, it.shallow+1)
	case it.shallow > least && doc <= blocks[it.shallow-1].last:
		it.shallow = it.find(doc, least)
	}
	return blocks[it.shallow].last
}

// BlockImpacts returns the impacts of the block that Shallow found, or of the
// current one if that is later; none behind the end. They are valid until the
// next call and are not to be changed.
func (it *Iterator) BlockImpacts() []Impact {
	block := max(it.block, it.shallow)
	here := it.list.blocks[block]
	switch {
	case block == len(it.list.blocks)-1:
		return nil
	case here.impacts == 0:
		return it.list.summary.Impacts
	case it.impactsOf != block:
		it.impacts, _, _ = readImpacts(it.impacts[:0], it.list.data[here.impacts:])
		it.impactsOf = block
	}
	return it.impacts
}

// find returns the first block from one on whose last document is >= doc, by
// steps that double, then by halves.
func (it *Iterator) find(doc uint32, from int) int {
	blocks := it.list.blocks
	low, high, step := from, from, 1 // all before low end before doc
	for high < len(blocks)-1 && blocks[high].last < doc {
		low = high + 1
		high = min(high+step, len(blocks)-1)
		step *= 2
	}
	for low < high {
		middle := int(uint(low+high) / 2)
		if blocks[middle].last < doc {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return min(low, len(blocks)-1)
}
