package layout

import (
	"bytes"
	"errors"
	"slices"
)

// The last member of a sealed JSON object is the content hash of the object without
// it, so that every changed byte is noticed:
//
//	{"names":["a"],"sum":"<content hash of {"names":["a"]}>"}
const (
	sealBegin = `"sum":"`
	sealEnd   = "\"}\n"
	sealBytes = len(sealBegin) + 32 + len(sealEnd)
)

// ErrSum means that the bytes of an object have changed since Seal added the sum.
var ErrSum = errors.New("its sum is that of another content")

// Seal returns a JSON object with a last member "sum" added, which is the content hash
// of the object as given. Unseal checks and removes it.
func Seal(object []byte) []byte {
	last := len(object) - 1 // index of the closing brace
	sealed := append(make([]byte, 0, len(object)+sealBytes), object[:last]...)
	if last > 1 {
		sealed = append(sealed, ',')
	}
	return append(append(append(sealed, sealBegin...), ContentHash(object)...), sealEnd...)
}

// Unseal returns the JSON object that was given to Seal, and whether the content has a
// sum. It fails with ErrSum if a byte of the object or of its sum has changed. Content
// without a sum, of an older program, is returned unchanged, with sealed = false.
func Unseal(content []byte) (object []byte, sealed bool, err error) {
	at := len(content) - sealBytes
	if at < 1 {
		return content, false, nil
	}
	switch right := rightBytes(content[at:]); {
	case right < (len(sealBegin)+len(sealEnd))/2:
		return content, false, nil
	case right < len(sealBegin)+len(sealEnd):
		return nil, true, ErrSum
	}
	object = append(slices.Clip(bytes.TrimSuffix(content[:at], []byte(","))), '}')
	if sum := content[at+len(sealBegin) : len(content)-len(sealEnd)]; ContentHash(object) != string(sum) {
		return nil, true, ErrSum
	}
	return object, true, nil
}

// rightBytes returns how many bytes of seal equal the fixed bytes of a sum: `"sum":"` before the
// hash, `"}` and a newline after it. The parameter seal is the end of an object, as many bytes as a
// sum has. A damaged sum still has most of the fixed bytes; the end of an object without a sum has
// few.
func rightBytes(seal []byte) (n int) {
	for i := range sealBegin {
		if seal[i] == sealBegin[i] {
			n++
		}
	}
	end := seal[len(seal)-len(sealEnd):]
	for i := range sealEnd {
		if end[i] == sealEnd[i] {
			n++
		}
	}
	return n
}
