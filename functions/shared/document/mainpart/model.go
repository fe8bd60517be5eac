package mainpart

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/linkeddata"
)

//go:embed weights.bin
var weights []byte

// stages is the number of models that find the main part: the first one scores all blocks, and the
// second one corrects these scores.
const stages = 2

var trained = sync.OnceValue(func() []*Model {
	models, err := DecodeModels(weights, stages)
	if err != nil {
		panic(err) // of bytes that belong to the program
	}
	return models
})

// Find returns, for every block of a page, whether it belongs to the main part. data is the JSON-LD
// of the page.
func Find(p *hypertext.Page, data *linkeddata.Data) []bool {
	f := Compute(p, data)
	return FindBy(trained(), &f)
}

// FindBy does the same as Find, but with the given features of a page and with two given models.
// The first model scores the blocks. The second model scores them once more, with features that
// depend on the first scores, and its scores decide.
func FindBy(models []*Model, f *Features) []bool {
	second := f.WithScores(models[0].Score(f))
	return second.Choose(models[1].Score(&second))
}

// Model is a list of decision trees of the same depth. Each tree leads a block (or a page, for
// models of kinds) to one of its leaves; the sum of the values of these leaves is the score.
type Model struct {
	Depth int // depth of all trees, 2 to 7
	Width int // number of features of a block
	Trees []Tree
}

// Tree is a decision tree whose nodes are numbered level by level. At node n, a block whose feature
// with the index Feature[n] is at most Threshold[n] goes on to node 2n+1, any other block to node
// 2n+2.
type Tree struct {
	Feature, Threshold []uint8
	Leaf               []float32 // values of the leaves, in log-odds
}

// minDepth and maxDepth are the bounds of the depth of a tree. The method Score handles the first and the last
// level in loops of their own, so a tree has at least two levels. Nodes and leaves are numbered from 0, level by
// level. In a tree of the depth maxDepth all these numbers fit into a byte.
const (
	minDepth = 2
	maxDepth = 7
)

// strip is the number of blocks that go down the trees together (see Score). Their features must fit into the fast
// cache of a processor, some 32 KiB, where they stay for all trees. With fewer blocks, copying trees would take a
// noticeable part of the time.
const strip = 64

// Score returns the log-odds that each block belongs to the main part.
func (m *Model) Score(f *Features) []float64 {
	scores, values := make([]float64, len(f.Words)), f.Values
	for part := range slices.Chunk(scores, strip) {
		m.score(part, values, f.Width)
		values = values[len(part)*f.Width:]
	}
	return scores
}

// score adds to the score of each block, all 0 before, the values of its leaves. The parameters are the scores of at
// most strip blocks, the features of these blocks (and perhaps of more), and the number of features of each. All
// blocks go down a tree together, level by level, so that the processor can do the steps of several blocks at once.
// The first and the last level are separate loops, which are shorter: all blocks begin at node 0, and after the last
// level only the leaf counts.
func (m *Model) score(scores []float64, values []uint8, width int) {
	var memory [strip]uint8
	nodes := memory[:len(scores)]
	leaves := uint8(1<<m.Depth - 1) // number of nodes before the first leaf
	for t := range m.Trees {
		var feature, threshold [256]uint8 // any node of a byte is in range
		copy(feature[:], m.Trees[t].Feature)
		copy(threshold[:], m.Trees[t].Threshold)
		row := int(feature[0])
		for i := range nodes {
			nodes[i] = 1 + right(threshold[0], values[row])
			row += width
		}
		for range m.Depth - 2 {
			row = 0
			for i, node := range nodes {
				nodes[i] = 2*node + 1 + right(threshold[node], values[row+int(feature[node])])
				row += width
			}
		}
		row = 0
		leaf := m.Trees[t].Leaf
		for i, node := range nodes {
			scores[i] += float64(leaf[2*node+1+right(threshold[node], values[row+int(feature[node])])-leaves])
			row += width
		}
	}
}

// right returns 1 if the feature is greater than the threshold of a node, so that the block goes on to the right
// child, and 0 otherwise. It is computed without a branch, since processors would often predict the branch
// wrongly.
func right(threshold, feature uint8) uint8 {
	return uint8((uint64(threshold) - uint64(feature)) >> 63)
}

// Choose reports for each block whether to keep it as a block of the main part. The parameter scores
// has for each block the log-odds that it belongs to the main part. Choose takes three steps:
//
//	1   It drops copies: of several blocks with the same text it leaves the likeliest (see copies).
//	2   Of the rest it keeps the n likeliest, for the n that gives the kept words the best expected F1.
//	3   It also keeps the blocks in small gaps between kept blocks (see fill).
func (f *Features) Choose(scores []float64) []bool {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if scores[a] != scores[b] {
			return cmp.Compare(scores[b], scores[a])
		}
		return a - b
	})
	copied := f.copies(order)
	order = slices.DeleteFunc(order, func(i int) bool { return copied[i] })
	all := 0.0
	for _, i := range order {
		all += probability(scores[i]) * float64(f.Words[i])
	}
	best, kept, size, hits := 0.0, 0, 0.0, 0.0
	for n, i := range order {
		size += float64(f.Words[i])
		hits += probability(scores[i]) * float64(f.Words[i])
		if f1 := 2 * hits / (size + all); f1 > best {
			best, kept = f1, n+1
		}
	}
	keep := make([]bool, len(scores))
	for _, i := range order[:kept] {
		keep[i] = true
	}
	f.fill(keep, copied, scores)
	return keep
}

// copies reports for each block whether it is a copy: it has at least copyWords words, and a
// likelier block at another position in the page has the same text. The parameter order lists the
// indexes of the blocks, the likeliest first. Blocks at the same position, such as the items of one
// list, are no copies: they may say the same about different things.
func (f *Features) copies(order []int) []bool {
	first := make(map[uint32]uint32) // by text: the path of the first block
	copied := make([]bool, len(f.Words))
	for _, i := range order {
		if f.Words[i] < copyWords {
			continue
		}
		t := f.Texts[i]
		path, found := first[t.hash]
		if !found {
			first[t.hash] = t.path
		}
		copied[i] = found && path != t.path
	}
	return copied
}

const (
	holeWords = 30 // greatest number of words in a gap between kept blocks that is filled (see fill)
	holeScore = -1 // a gap is not filled if a block in it has lower log-odds than this
)

// fill also keeps the blocks in small gaps. A gap is a run of blocks that are not kept, between two
// kept blocks: for example a label, or the cells of a table. fill leaves a gap as it is if it has
// more than holeWords words, or a block whose log-odds are below holeScore. It never keeps a block
// for which copied is true (see copies).
func (f *Features) fill(keep, copied []bool, scores []float64) {
	for i := 0; i < len(keep); i++ {
		if keep[i] {
			continue
		}
		from, words, likely := i, 0, true
		for ; i < len(keep) && !keep[i]; i++ {
			words += f.Words[i]
			likely = likely && scores[i] >= holeScore
		}
		if from == 0 || i == len(keep) || !likely || words > holeWords {
			continue
		}
		for hole := from; hole < i; hole++ {
			keep[hole] = !copied[hole]
		}
	}
}

func probability(score float64) float64 { return 1 / (1 + math.Exp(-score)) }

// ErrDamaged means that bytes are not an encoded model.
var ErrDamaged = errors.New("model of main parts is damaged")

const header = 8

// Encode encodes the model in the format that the package comment draws. It rounds the leaves to 8
// bits.
func (m *Model) Encode() []byte {
	scale := float32(0)
	for _, t := range m.Trees {
		for _, leaf := range t.Leaf {
			scale = max(scale, leaf/127, -leaf/127)
		}
	}
	out := binary.BigEndian.AppendUint16(nil, uint16(len(m.Trees)))
	out = append(out, uint8(m.Depth), uint8(m.Width))
	out = binary.BigEndian.AppendUint32(out, math.Float32bits(scale))
	for _, t := range m.Trees {
		for n := range t.Feature {
			out = append(out, t.Feature[n], t.Threshold[n])
		}
		for _, leaf := range t.Leaf {
			out = append(out, uint8(int8(math.Round(float64(leaf/scale)))))
		}
	}
	return out
}

// Decode decodes a model that Encode has encoded. It fails with ErrDamaged for other bytes.
func Decode(data []byte) (*Model, error) {
	if len(data) < header {
		return nil, ErrDamaged
	}
	m := &Model{Depth: int(data[2]), Width: int(data[3])}
	trees, scale := int(binary.BigEndian.Uint16(data)), math.Float32frombits(binary.BigEndian.Uint32(data[4:]))
	if m.Depth < minDepth || m.Depth > maxDepth || m.Width == 0 {
		return nil, ErrDamaged
	}
	nodes := 1<<m.Depth - 1
	data = data[header:]
	if len(data) != trees*(2*nodes+nodes+1) {
		return nil, ErrDamaged
	}
	for range trees {
		t := Tree{make([]uint8, nodes), make([]uint8, nodes), make([]float32, nodes+1)}
		for n := range nodes {
			if t.Feature[n], t.Threshold[n] = data[2*n], data[2*n+1]; int(t.Feature[n]) >= m.Width {
				return nil, ErrDamaged
			}
		}
		for n := range t.Leaf {
			t.Leaf[n] = float32(int8(data[2*nodes+n])) * scale
		}
		m.Trees = append(m.Trees, t)
		data = data[3*nodes+1:]
	}
	return m, nil
}

// EncodeModels encodes several models: for each its length, u16, and its bytes.
func EncodeModels(models []*Model) (out []byte) {
	for _, m := range models {
		encoded := m.Encode()
		out = binary.BigEndian.AppendUint16(out, uint16(len(encoded)))
		out = append(out, encoded...)
	}
	return out
}

// DecodeModels decodes models that EncodeModels has encoded. It fails with ErrDamaged if their
// number is not the expected one.
func DecodeModels(data []byte, number int) (models []*Model, err error) {
	for range number {
		if len(data) < 2 || len(data)-2 < int(binary.BigEndian.Uint16(data)) {
			return nil, ErrDamaged
		}
		end := 2 + int(binary.BigEndian.Uint16(data))
		m, err := Decode(data[2:end])
		if err != nil {
			return nil, err
		}
		models, data = append(models, m), data[end:]
	}
	if len(data) > 0 {
		return nil, ErrDamaged
	}
	return models, nil
}
