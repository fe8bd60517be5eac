// Command train makes the weights that package language embeds. Its input is a directory
// with a file LANGUAGE.txt for each language, one sentence or phrase a line:
//
//	go run ./strategy/text/language/train -in DIR -out strategy/text/language/weights.bin
//
// A tenth of a megabyte of a language is enough, a megabyte is plenty; the more kinds of
// sources, the better. The variable tables has the languages of each script that are told
// apart. Texts in languages that are not in this variable train one more class of their
// script, which stands for all other languages. The same texts give the same weights.
// Training takes some minutes.
package main

import (
	"flag"
	"log"
	"os"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/strategy/text/language/internal/model"
)

func main() {
	in := flag.String("in", "", "directory of LANGUAGE.txt")
	out := flag.String("out", "weights.bin", "file to write")
	flag.Parse()
	texts, err := read(*in)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range tables {
		codes, _ := t.draws()
		for _, code := range codes {
			if !slices.ContainsFunc(texts, func(x text) bool { return x.code == code && x.script == t.script }) {
				log.Fatalf("cannot train: %s needs a file %s.txt in the script of the language", *in, code)
			}
		}
	}
	var m model.Model
	var wait sync.WaitGroup
	for _, t := range tables {
		wait.Go(func() { m.Scripts[t.script] = train(t, texts) })
	}
	wait.Wait()
	for _, f := range families {
		m.Close = append(m.Close, trainClose(f, texts))
	}
	file, err := m.Encode()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, file, 0o644); err != nil {
		log.Fatal(err)
	}
}
