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

// Seal adds a last member "sum" to a JSON object: the content hash of the object as given. Unseal
// checks and removes it.
func Seal(object []byte) []byte {
	last := len(object) - 1 // index of the closing brace
	sealed := append(make([]byte, 0, len(object)+sealBytes), object[:last]...)
	if last > 1 {
		sealed = append(sealed, ',')
	}
	return append(append(append(sealed, sealBegin...), ContentHash(object)...), sealEnd...)
}

// Unseal returns the JSON object that was given to Seal, and whether the content has a
// sum. It fails with ErrSum if a byte of the object or of its sum has changed. Older
// programs wrote no sum: content without a sum is returned unchanged, with sealed =
// false.
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

// rightBytes helps to tell an object whose sum is damaged from an object without a sum. A sum is at
// the end of an object: `"sum":"`, a hash, and `"}` with a newline. The parameter holds the last
// bytes of an object, as many as a sum takes. rightBytes compares them with this text, without the
// hash, and returns how many bytes are equal. In a damaged sum most are, and otherwise only a few.
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
