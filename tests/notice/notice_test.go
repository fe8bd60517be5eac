package main

import (
	"bytes"
	"os"
	"testing"
)

// The notice that the program prints has the licence of every linked module.
func TestNotice(t *testing.T) {
	var want bytes.Buffer
	if err := write(&want, "../.."); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../local/bucketsearch/NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("local/bucketsearch/NOTICE is not what is linked in; make it anew: go run ./tests/notice > local/bucketsearch/NOTICE")
	}
}
