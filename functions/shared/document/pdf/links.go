package pdf

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// readLinks adds the links of a page that lead to the web.
func (i *instance) readLinks(d *document, document, page, text uint64, number int) {
	const position, handle, size = 0, 4, 8 // in the buffer: an int, a pointer
	const uri = 3                          // kind of action
	buffer := i.allocate(size)
	defer i.free(buffer)
	copy(i.bytes(buffer, size), make([]byte, size))
	for range maxLinks {
		if i.call("FPDFLink_Enumerate", page, buffer+position, buffer+handle) == 0 {
			return
		}
		b := i.bytes(buffer+handle, 4)
		if b == nil {
			return
		}
		one := uint64(binary.LittleEndian.Uint32(b))
		action := i.call("FPDFLink_GetAction", one)
		if action == 0 || i.call("FPDFAction_GetType", action) != uri {
			continue
		}
		address := strings.TrimSpace(strings.Trim(string(i.sized("FPDFAction_GetURIPath", document, action)), "\x00"))
		if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
			d.links = append(d.links, link{address, i.textAt(one, text), number})
		}
	}
}

// textAt returns the text in a link's area.
func (i *instance) textAt(link, text uint64) string {
	const corners, rectangle = 4, 16
	const units = 512
	buffer := i.allocate(rectangle + 2*units)
	defer i.free(buffer)
	if i.call("FPDFLink_GetAnnotRect", link, buffer) == 0 {
		return ""
	}
	b := i.bytes(buffer, rectangle)
	if b == nil {
		return ""
	}
	arguments := []uint64{text}
	for c := range corners { // left, top, right, bottom
		corner := math.Float32frombits(binary.LittleEndian.Uint32(b[4*c:]))
		arguments = append(arguments, api.EncodeF64(float64(corner)))
	}
	n := i.integer("FPDFText_GetBoundedText", append(arguments, buffer+rectangle, units)...)
	return strings.TrimSpace(strings.Trim(wide(i.bytes(buffer+rectangle, 2*min(n, units))), "\x00"))
}
