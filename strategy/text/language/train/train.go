package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/text/language/internal/model"
)

const (
	snippets = 20_000 // training steps for each element of the list lots (see table.draws)
	rate     = .05    // learning rate at the beginning
	// share of the features of a snippet that one training step uses, so that no single feature
	// decides
	featureShare = .6
	englishShare = .02 // share of the snippets to which some English words are added
)

// train returns a table of the model, trained with the texts. The method is softmax regression by
// stochastic gradient descent with AdaGrad (Duchi, Hazan, Singer 2011).
func train(t table, texts []text) model.Classes {
	codes, lots := t.draws()
	sources := make([][]text, len(codes))
	var others []text
	var english []string
	for _, x := range texts {
		if x.code == "en" {
			english = x.lines
		}
		if x.script != t.script {
			continue
		}
		if i := slices.Index(codes, x.code); i >= 0 {
			sources[i] = append(sources[i], x)
		} else {
			others = append(others, x)
		}
	}
	if len(others) > 0 {
		lots = append(lots, len(codes))
		codes = append(codes, "")
		sources = append(sources, others)
	}
	rng := rand.New(rand.NewPCG(1, uint64(t.script)))
	l := learner{classes: len(codes), weights: make([]float32, len(codes)<<t.bits), squares: make([]float32, len(codes)<<t.bits)}
	steps := snippets * len(lots)
	for step := range steps {
		class := lots[rng.IntN(len(lots))]
		from := sources[class][rng.IntN(len(sources[class]))]
		s := snippet(rng, from.lines, t.script)
		if t.script == model.Latin && from.code != "en" && rng.Float64() < englishShare {
			words := strings.Fields(english[rng.IntN(len(english))])
			s += strings.Join(words[:min(len(words), 1+strings.Count(s, " ")/5)], " ")
		}
		l.learn(features(rng, s, t), class, rate*(1-.9*float64(step)/float64(steps)))
	}
	return quantise(model.Classes{Script: t.script, Codes: codes, Bits: t.bits}, l.weights, minWeight)
}

// features returns a random choice of the features of a snippet: each is chosen with the probability
// featureShare. A feature is given by the number of its row in the table.
func features(rng *rand.Rand, s string, t table) []uint32 {
	var rows []uint32
	var hashes [256]uint32
	reader := model.NewReader(s, t.script, false)
	for n := reader.Next(hashes[:]); n > 0; n = reader.Next(hashes[:]) {
		for _, h := range hashes[:n] {
			if rng.Float64() < featureShare {
				rows = append(rows, h>>(32-t.bits))
			}
		}
	}
	return rows
}

// learner is the state of the training of a table. The table has one weight for each row and class,
// and the field weights holds them row by row. The field squares has, in the same order, the sum of
// the squares of each weight's gradients.
type learner struct {
	classes          int
	weights, squares []float32
}

// learn takes one step of gradient descent for a snippet. rows are the numbers of the rows
// of its features, class is the index of its language, and rate is the learning rate.
func (l *learner) learn(rows []uint32, class int, rate float64) {
	p := make([]float64, l.classes)
	for _, row := range rows {
		for i, w := range l.weights[int(row)*l.classes:][:l.classes] {
			p[i] += float64(w)
		}
	}
	most, sum := slices.Max(p), 0.
	for i := range p {
		p[i] = math.Exp(p[i] - most)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	p[class]--
	for i, gradient := range p {
		if math.Abs(gradient) < 1e-4 {
			continue
		}
		g := float32(gradient)
		for _, row := range rows {
			at := int(row)*l.classes + i
			l.squares[at] += g * g
			l.weights[at] -= float32(rate) * g / float32(math.Sqrt(1+float64(l.squares[at])))
		}
	}
}
