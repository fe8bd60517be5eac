package mainpart

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/linkeddata"
)

// article returns a page with a menu, an article, links to related posts and a footer. The article
// has the given number of paragraphs, each with the same sentence.
func article(sentence string, paragraphs int) []byte {
	var s strings.Builder
	s.WriteString(`<title>On the nesting of storks</title><header class="site-header"><nav class="menu"><ul>`)
	for i := range 12 {
		fmt.Fprintf(&s, `<li><a href="/section/%d">Section number %d</a>`, i, i)
	}
	s.WriteString(`</ul></nav></header><div class="post"><h1>On the nesting of storks</h1>`)
	for range paragraphs {
		s.WriteString("<p>" + strings.Repeat(sentence+" ", 4))
	}
	s.WriteString(`</div><div class="related"><h2>Related posts</h2><ul>`)
	for i := range 6 {
		fmt.Fprintf(&s, `<li><a href="/post/%d">Another post with a long title, the %dth</a>`, i, i)
	}
	s.WriteString(`</ul></div><footer class="footer"><p>Copyright 2026. <a href=/privacy>Privacy</a> <a href=/terms>Terms</a></footer>`)
	return []byte(s.String())
}

// TestFind checks that the main part is found in languages with and without spaces, written from
// left to right and from right to left.
func TestFind(t *testing.T) {
	for language, sentence := range map[string]string{
		"English":  "The storks come back in March, and build their nests upon the chimneys of the old town.",
		"Japanese": "コウノトリは三月に戻ってきて、古い町の煙突の上に巣を作ります。",
		"Thai":     "นกกระสากลับมาในเดือนมีนาคม และสร้างรังบนปล่องไฟของเมืองเก่า",
		"Arabic":   "تعود اللقالق في شهر مارس، وتبني أعشاشها فوق مداخن المدينة القديمة.",
		"Russian":  "Аисты возвращаются в марте, и строят свои гнёзда на трубах старого города.",
		"Hindi":    "सारस मार्च में लौट आते हैं, और पुराने शहर की चिमनियों पर अपने घोंसले बनाते हैं।",
	} {
		t.Run(language, func(t *testing.T) {
			p := hypertext.Read(article(sentence, 8))
			for i, main := range Find(p, linkeddata.Read()) {
				b := p.Blocks[i]
				text := p.Text[b.Start:b.End]
				if want := bytes.Contains(text, []byte(sentence)); want && !main || main && bytes.Contains(text, []byte("Privacy")) {
					t.Errorf("main %v: %s", main, text)
				}
			}
		})
	}
}

// TestCopies checks that, if a page has a text in two places, the less likely copy is left out.
// Blocks at the same position, such as items of one list, are all kept, because they may say the
// same about different things.
func TestCopies(t *testing.T) {
	const text = "The storks come back in March, and build their nests upon the chimneys."
	p := hypertext.Read([]byte("<ul class=toc><li>" + text + "</ul><div class=post><p>" + text + "<p>Other<p>" + text + "</div><div class=quote><p>" + text + "</div><ul><li>short<li>short</ul>"))
	f := Compute(p, linkeddata.Read())
	got := f.Choose([]float64{1, 5, 5, 5, 4, 5, 5})
	want := []bool{false, true, true, true, false, true, true}
	if !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

func TestChoose(t *testing.T) {
	words := []int{50, 5, 50, 100, 40, 3}
	for name, c := range map[string]struct {
		scores []float64
		want   []bool
	}{
		"clear":         {[]float64{9, -9, 9, -9, -9, -9}, []bool{true, false, true, false, false, false}},
		"a small hole":  {[]float64{9, -.5, 9, -9, -9, -9}, []bool{true, true, true, false, false, false}},
		"a large hole":  {[]float64{9, -9, 9, -.9, 9, -9}, []bool{true, false, true, false, true, false}},
		"all doubtful":  {[]float64{-1, -1, -1, -1, -1, -1}, []bool{true, true, true, true, true, true}},
		"the best only": {[]float64{-1, -1, 9, -9, -9, -9}, []bool{false, false, true, false, false, false}},
	} {
		f := Features{Words: words, Texts: make([]Text, len(words))}
		for i := range f.Texts {
			f.Texts[i].hash = uint32(i)
		}
		if got := f.Choose(c.scores); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestScore checks that, at a node of a tree, a block goes left if its feature is at most the
// threshold, and right if it is greater. The score of the block must be the sum of the values that
// all trees give it. The page has more blocks than go down the trees together.
func TestScore(t *testing.T) {
	tree := Tree{Feature: []uint8{0, 1, 1}, Threshold: []uint8{5, 0, 254}, Leaf: []float32{1, 2, 4, 8}}
	m := Model{Depth: 2, Width: 2, Trees: []Tree{tree, tree}}
	const times = 2*strip/5 + 1
	f := Features{Width: 2, Values: bytes.Repeat([]uint8{5, 0, 0, 255, 6, 254, 255, 255, 0, 0}, times), Words: make([]int, 5*times)}
	if got, want := m.Score(&f), slices.Repeat([]float64{2, 4, 8, 16, 2}, times); !slices.Equal(got, want) {
		t.Errorf("scores %v, want %v", got, want)
	}
}

// TestWithScores checks the features that the second model gets for an unlikely block. They must be
// higher if the blocks around it are likely than if these are unlikely, too. By this difference the
// second model can keep the block in the first case and drop it in the second.
func TestWithScores(t *testing.T) {
	block := "<p>The storks come back in March.</p>"
	p := hypertext.Read([]byte("<main>" + strings.Repeat(block, 9) + "</main><footer>" + strings.Repeat(block, 9) + "</footer>"))
	f := Compute(p, linkeddata.Read())
	scores := make([]float64, len(p.Blocks))
	for i := range scores {
		scores[i] = -4
		if i < 9 && i != 4 {
			scores[i] = 4
		}
	}
	with := f.WithScores(scores)
	inside, outside := with.Row(4)[f.Width:], with.Row(13)[f.Width:]
	if inside[0] != outside[0] {
		t.Errorf("features of equal scores are %d and %d", inside[0], outside[0])
	}
	for i, name := range []string{"block before", "block after", "2 around", "6 around", "20 around", "6 before", "6 after", "path", "run", "element"} {
		if inside[1+i] < outside[1+i] || i < 4 && inside[1+i] < outside[1+i]+50 {
			t.Errorf("%s: %d among likely blocks, %d among unlikely ones", name, inside[1+i], outside[1+i])
		}
	}
}

// TestCode checks the embedded models. Decoding them and encoding the result must give the same bytes.
// The models must expect as many features as the code computes now.
func TestCode(t *testing.T) {
	models, err := DecodeModels(weights, stages)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(EncodeModels(models), weights) {
		t.Error("the models change when they are read and written")
	}
	first := Compute(hypertext.Read([]byte("<p>x")), linkeddata.Read())
	for i, f := range []Features{first, first.WithScores([]float64{0})} {
		if f.Width != models[i].Width {
			t.Errorf("a block has %d features, and the model is for %d: train it anew", f.Width, models[i].Width)
		}
	}
	kinds, err := DecodeModels(kindWeights, len(Kinds))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(EncodeModels(kinds), kindWeights) {
		t.Error("the models of kinds change when they are read and written")
	}
	if width := len(PageFeatures(hypertext.Read([]byte("<p>x")), linkeddata.Read())); width != kinds[0].Width {
		t.Errorf("a page has %d features, and the models are for %d: train them anew", width, kinds[0].Width)
	}
}

func TestKindOf(t *testing.T) {
	product := `<title>Cup</title><meta property=og:type content=product><script type="application/ld+json">{"@type": "Product", "name": "Cup"}</script>
		<div class="product"><h1 class="product-title">Cup</h1><span class="price">$12.00</span><button>Add to cart</button><div class="product-description"><p>A cup of porcelain for tea.</div></div>` + strings.Repeat("<li>Holds a quarter of a litre.", 8)
	for kind, page := range map[Kind][]byte{
		"article": article("The storks come back in March, and build their nests upon the chimneys of the old town.", 12),
		"product": []byte(product),
		"":        []byte("<p>Hello"),
	} {
		p := hypertext.Read(page)
		if got := KindOf(p, linkeddata.Read(p.Data...)); got != kind {
			t.Errorf("%s, want %s", got, kind)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(trained()[0].Encode())
	f.Add(binary.BigEndian.AppendUint64(nil, 1<<48|1<<40|1<<32))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Decode(data)
		if err != nil {
			return
		}
		features := Features{Width: m.Width, Values: make([]uint8, m.Width), Words: []int{1}, Texts: make([]Text, 1)}
		features.Choose(m.Score(&features))
	})
}

// FuzzSteps computes the features of a page in which a piece of markup is repeated many times, and
// counts the steps of this work. There may be 4 * MaxNesting steps for each block and each element.
// So the work is linear in the size of the page. The factor MaxNesting is there because a block is
// inside of up to MaxNesting elements, and the work for it may look at all of them.
func FuzzSteps(f *testing.F) {
	for _, piece := range []string{
		"<p>a", "<div>a", "<div><p>a</p>", "<ul><li>a", "<a href=x>a</a>", "<table><tr><td>a", "<article><h1>a</h1>", "<i>", "a<br>", "<b><p>a</b>",
	} {
		f.Add([]byte(piece))
	}
	f.Fuzz(func(t *testing.T, piece []byte) {
		if len(piece) == 0 {
			return
		}
		p := hypertext.Read(bytes.Repeat(piece, 32<<10/len(piece)+1))
		features := Compute(p, linkeddata.Read(p.Data...))
		features = features.WithScores(make([]float64, len(p.Blocks)))
		if most := 4 * hypertext.MaxNesting * (len(p.Blocks) + len(p.Elements)); features.steps > most {
			t.Errorf("%d steps for %d blocks in %d elements, want at most %d", features.steps, len(p.Blocks), len(p.Elements), most)
		}
	})
}

func FuzzDecodeModels(f *testing.F) {
	f.Add(kindWeights)
	f.Add(make([]byte, 2*len(Kinds)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if models, err := DecodeModels(data, len(Kinds)); err == nil && len(models) != len(Kinds) {
			t.Errorf("%d models", len(models))
		}
	})
}

func FuzzFind(f *testing.F) {
	f.Add(article("Storks are birds.", 2))
	f.Add([]byte("<p>a<table><td>b<pre>c</pre>"))
	f.Fuzz(func(t *testing.T, markup []byte) {
		p := hypertext.Read(markup)
		if keep := Find(p, linkeddata.Read(p.Data...)); len(keep) != len(p.Blocks) {
			t.Errorf("%d of %d blocks", len(keep), len(p.Blocks))
		}
	})
}
