package fuel

import (
	"encoding/binary"
	"fmt"
)

// Byte codes of types and instructions of WebAssembly (5.3.1, 5.4). Listed are those that this
// package writes into a module, or must tell apart from others when it reads one.
const (
	i32 = 0x7F
	i64 = 0x7E

	opUnreachable = 0x00
	opBlock       = 0x02
	opLoop        = 0x03
	opIf          = 0x04
	opEnd         = 0x0B
	opCall        = 0x10
	opLocalGet    = 0x20
	opGlobalGet   = 0x23
	opGlobalSet   = 0x24
	opI64Const    = 0x42
	opI64LtS      = 0x53
	opI64Sub      = 0x7D
	opI64ShrU     = 0x88
	opI64ExtendU  = 0xAD
	opPrefixed    = 0xFC

	emptyBlock = 0x40
)

// meterer inserts code into the bodies of functions. The code subtracts the number of executed
// instructions from a global variable, the fuel (see the package comment).
type meterer struct {
	imported uint64 // number of imported functions
	charge   uint64 // index of the added function charge, which is called before instructions such as memory.copy
	global   uint64 // index of the global variable with the fuel
}

// bodies returns the new code section of a module: the bodies of the module's functions, with code
// that takes fuel, and after them the body of the added function charge. The parameter content is
// the old code section, except that its number of functions already includes charge. The parameter
// count is the number of functions without charge.
func (m meterer) bodies(content []byte, count int) ([]byte, error) {
	r := reader{b: content}
	out := binary.AppendUvarint(make([]byte, 0, len(content)+len(content)/2), r.number())
	for i := range count {
		body, err := m.body(r.take(r.number()))
		if r.err != nil {
			err = r.err
		}
		if err != nil {
			return nil, fmt.Errorf("function %d: %w", m.imported+uint64(i), err)
		}
		out = append(binary.AppendUvarint(out, uint64(len(body))), body...)
	}
	if len(r.b) > 0 {
		return nil, fmt.Errorf("%d bytes stand behind the last function", len(r.b))
	}
	body := m.chargeBody()
	return append(binary.AppendUvarint(out, uint64(len(body))), body...), nil
}

// chargeBody returns the body of the function charge, which metered code calls before a bulk
// instruction such as memory.copy. The argument of charge is the number of bytes or elements.
// The function takes fuel for these and returns the argument.
func (m meterer) chargeBody() []byte {
	cost := []byte{opLocalGet, 0, opI64ExtendU, opI64Const, 3, opI64ShrU}
	return append(m.appendTake([]byte{0}, cost), opLocalGet, 0, opEnd)
}

// appendTake appends to b instructions that subtract a number from the fuel, and trap if the fuel
// is then below zero. The parameter value holds the instructions that compute the number. The
// appended instructions leave the stack as it was.
func (m meterer) appendTake(b, value []byte) []byte {
	b = binary.AppendUvarint(append(b, opGlobalGet), m.global)
	b = append(b, value...)
	b = binary.AppendUvarint(append(b, opI64Sub, opGlobalSet), m.global)
	b = binary.AppendUvarint(append(b, opGlobalGet), m.global)
	return append(b, opI64Const, 0, opI64LtS, opIf, emptyBlock, opUnreachable, opEnd)
}

// insertion is a place in a function's body at which code that takes fuel is inserted.
type insertion struct {
	at   int   // offset in the function's body
	cost int64 // fuel to take; 0 before a bulk instruction such as memory.copy, whose cost is known only when it runs
}

// body returns the body of a function after inserting code that takes fuel.
func (m meterer) body(old []byte) ([]byte, error) {
	places, err := m.measure(old)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(old)+20*len(places))
	from := 0
	for _, p := range places {
		out = append(out, old[from:p.at]...)
		from = p.at
		if p.cost == 0 {
			out = binary.AppendUvarint(append(out, opCall), m.charge)
		} else {
			out = m.appendTake(out, appendSigned([]byte{opI64Const}, p.cost))
		}
	}
	return append(out, old[from:]...), nil
}

// measure returns the places in a function's body at which fuel must be taken, and how much at each
// place. The places are in the order of the body.
func (m meterer) measure(body []byte) ([]insertion, error) {
	r := reader{b: body}
	for n := r.number(); n > 0 && r.err == nil; n-- { // local variables
		r.number()
		r.byte()
	}
	at := func() int { return len(body) - len(r.b) }
	places := []insertion{{at: at()}}
	region := 0         // innermost loop, or else the function, as an index in places: there fuel is taken for the instructions
	open := []int{0}    // the regions around each open block, innermost last
	for len(open) > 0 { // the function's own end closes the last one
		start := at()
		op := r.byte()
		cost := int64(1)
		switch op {
		case opBlock, opIf:
			r.skip() // its type
			open = append(open, region)
		case opLoop:
			r.skip()
			open = append(open, region)
			region = len(places)
			places = append(places, insertion{at: at()})
		case opEnd:
			region = open[len(open)-1]
			open = open[:len(open)-1]
		case opCall:
			if r.number() < m.imported {
				cost = HostCall
			}
		case opPrefixed:
			if r.prefixed() {
				places = append(places, insertion{at: start})
			}
		default:
			r.immediates(op)
		}
		if r.err != nil {
			return nil, r.err
		}
		places[region].cost += cost
	}
	if len(r.b) > 0 {
		return nil, fmt.Errorf("%d bytes stand behind its end", len(r.b))
	}
	return places, nil
}

// immediates skips the immediate arguments of an instruction, which follow its first byte, op.
func (r *reader) immediates(op byte) {
	switch {
	case op == 0x0C, op == 0x0D, // br, br_if
		0x20 <= op && op <= 0x26, // variables, table.get, table.set
		op == 0xD2:               // ref.func
		r.number()
	case op == 0x0E: // br_table
		for n := r.number(); n > 0 && r.err == nil; n-- {
			r.number()
		}
		r.number()
	case op == 0x11, // call_indirect
		0x28 <= op && op <= 0x3E: // loads and stores
		r.number()
		r.number()
	case op == 0x1C: // select of types
		r.take(r.number())
	case op == 0x3F, op == 0x40, op == 0xD0: // memory.size, memory.grow, ref.null
		r.byte()
	case op == 0x41, op == 0x42: // constants
		r.skip()
	case op == 0x43:
		r.take(4)
	case op == 0x44:
		r.take(8)
	case op <= 0x01, op == 0x05, op == 0x0F, op == 0x1A, op == 0x1B, // unreachable, nop, else, return, drop, select
		0x45 <= op && op <= 0xC4, // numbers
		op == 0xD1:               // ref.is_null
	default:
		r.fail("instruction %02x is not known", op)
	}
}

// prefixed skips the rest of an instruction that begins with the byte FC. It returns true for a bulk
// instruction, such as memory.copy. A bulk instruction works on many bytes or elements. Their number
// is its last operand, the one on top of the stack.
func (r *reader) prefixed() bool {
	switch op := r.number(); op {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating conversions
		return false
	case 9, 13: // data.drop, elem.drop
		r.number()
		return false
	case 11, 17: // memory.fill, table.fill
		r.number()
		return true
	case 8, 10, 12, 14: // init and copy, of memories and tables
		r.number()
		r.number()
		return true
	case 15, 16: // table.grow, table.size
		r.number()
		return false
	default:
		r.fail("instruction FC %d is not known", op)
		return false
	}
}

// appendSigned appends a signed number in LEB128 (5.2.2).
func appendSigned(b []byte, n int64) []byte {
	for n < -64 || n >= 64 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n)&0x7F)
}
