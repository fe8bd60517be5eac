// Package fuel makes WebAssembly modules count their own instructions, so that the work of a call
// is bounded by a number that is the same on every machine and under every load.
//
// Meter adds to a module a global variable, which the host sets to the allowed number before a
// call, and code that subtracts from it:
//
//	where                          takes
//	entry of a function            the number of its instructions outside of loops
//	each turn of a loop            the number of its instructions outside of inner loops
//	memory.copy, memory.fill, …    1 for every 8 bytes or elements, just before the instruction
//	call of an imported function   HostCall instead of 1
//
// If a call takes the variable below zero, it traps (as by the instruction unreachable), and every
// later call traps, too. A call takes at least as much fuel as it executes instructions, because
// WebAssembly can execute an instruction again only in a new turn of a loop or a new call of a
// function. It takes more if branches skip instructions. Growing the memory is not counted: the
// memory's limit bounds it.
//
// Meter understands WebAssembly 2.0 (https://www.w3.org/TR/wasm-core-2/, chapter 5) without vector
// instructions. It refuses every module that it does not understand.
package fuel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Global is the name by which a metered module exports the global variable with its fuel, an
// i64.
const Global = "fuel"

// HostCall is the fuel that a call of an imported function takes.
const HostCall = 200

// Numbers of the sections of a WebAssembly module (5.5.2).
const (
	customs   = 0
	types     = 1
	imports   = 2
	functions = 3
	globals   = 6
	exports   = 7
	codes     = 10
)

// Meter returns a WebAssembly module that does the same as the given one, but takes fuel from the
// global variable Global for its instructions. When the fuel falls below zero, the call traps (see
// the package comment). Meter fails for bytes that are no module, and for code that it does not
// understand.
func Meter(module []byte) ([]byte, error) {
	metered, err := meter(module)
	if err != nil {
		return nil, fmt.Errorf("cannot meter WebAssembly: %w", err)
	}
	return metered, nil
}

const preamble = "\x00asm\x01\x00\x00\x00"

// section is a section of a WebAssembly module.
type section struct {
	id      byte
	content []byte
}

// meter rewrites a module so that its code takes fuel (see Meter). It adds a type, a function, a
// global variable and an export. Each is the last one of its kind, so that the indexes of all
// others stay the same.
func meter(module []byte) ([]byte, error) {
	sections, err := split(module)
	if err != nil {
		return nil, err
	}
	find := func(id byte) *section {
		for i := range sections {
			if sections[i].id == id {
				return &sections[i]
			}
		}
		return &section{id: id}
	}
	importedFunctions, importedGlobals, err := countImports(find(imports).content)
	if err != nil {
		return nil, err
	}
	var counts [codes + 1]int
	for _, id := range []byte{types, functions, globals, exports, codes} {
		s := find(id)
		if s.content == nil {
			return nil, fmt.Errorf("it has no section %d", id)
		}
		if counts[id], s.content, err = grown(s.content); err != nil {
			return nil, fmt.Errorf("section %d: %w", id, err)
		}
	}
	if counts[functions] != counts[codes] {
		return nil, fmt.Errorf("%d functions have %d bodies", counts[functions], counts[codes])
	}
	m := meterer{
		imported: uint64(importedFunctions),
		charge:   uint64(importedFunctions + counts[functions]),
		global:   uint64(importedGlobals + counts[globals]),
	}
	add := func(id byte, b []byte) { s := find(id); s.content = append(s.content, b...) }
	add(types, []byte{0x60, 1, i32, 1, i32})
	add(functions, binary.AppendUvarint(nil, uint64(counts[types])))
	add(globals, []byte{i64, 1, opI64Const, 0, opEnd})
	export := append([]byte{byte(len(Global))}, Global...)
	add(exports, binary.AppendUvarint(append(export, 3), m.global))
	code := find(codes)
	code.content, err = m.bodies(code.content, counts[codes])
	if err != nil {
		return nil, err
	}
	out := []byte(preamble)
	for _, s := range sections {
		out = append(out, s.id)
		out = append(binary.AppendUvarint(out, uint64(len(s.content))), s.content...)
	}
	return out, nil
}

// split returns the sections of a WebAssembly module.
func split(module []byte) (sections []section, err error) {
	if len(module) < len(preamble) || string(module[:len(preamble)]) != preamble {
		return nil, errors.New("it does not begin as a module of version 1")
	}
	r := reader{b: module[len(preamble):]}
	for len(r.b) > 0 && r.err == nil {
		id := r.byte()
		sections = append(sections, section{id, r.take(r.number())})
	}
	return sections, r.err
}

// grown returns the number of elements of an encoded vector, and the vector with that number
// increased by one. The caller must append the new element.
func grown(vector []byte) (count int, larger []byte, err error) {
	r := reader{b: vector}
	n := r.number()
	if n > uint64(len(r.b)) {
		r.fail("a vector of %d elements in %d bytes", n, len(r.b))
	}
	return int(n), slices.Concat(binary.AppendUvarint(nil, n+1), r.b), r.err
}

// countImports returns how many functions and global variables are imported. The functions
// and variables of the module itself are numbered after them (2.5.1).
func countImports(content []byte) (functions, globals int, err error) {
	if content == nil {
		return 0, 0, nil
	}
	r := reader{b: content}
	for n := r.number(); n > 0 && r.err == nil; n-- {
		r.take(r.number())
		r.take(r.number())
		switch kind := r.byte(); kind {
		case 0:
			r.number()
			functions++
		case 1:
			r.byte()
			r.limits()
		case 2:
			r.limits()
		case 3:
			r.take(2)
			globals++
		default:
			r.fail("an import of kind %d", kind)
		}
	}
	return functions, globals, r.err
}

// reader reads the parts of a module. It keeps its first error; all reads after it return
// zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.b = nil
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail("%d bytes are missing at the end", n-uint64(len(r.b)))
		return nil
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// number reads an unsigned number in LEB128 (5.2.2).
func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.fail("a number is not LEB128")
		return 0
	}
	r.b = r.b[size:]
	return n
}

// skip skips a number in LEB128, signed or unsigned.
func (r *reader) skip() {
	for r.byte()&0x80 != 0 {
	}
}

func (r *reader) limits() {
	if r.byte()&1 == 1 {
		r.number()
	}
	r.number()
}
