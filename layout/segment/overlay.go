package segment

const overlayMagic = "\xFFBOVL\x01\r\n"

// overlayKind says what an overlay tells about its segment, such as dead documents or ranks. It is
// the byte after the overlay's magic bytes.
type overlayKind byte

const (
	deletionsKind overlayKind = 1
	ranksKind     overlayKind = 2
)

// openOverlay checks the checksum, the version and the kind of an overlay (deletions or ranks of a
// segment), and returns a parser of the bytes after the kind.
func openOverlay(content []byte, want overlayKind) (parser, error) {
	if len(content) < len(overlayMagic) || string(content[:len(overlayMagic)]) != overlayMagic {
		return parser{}, damaged("it does not begin as an overlay of version 1")
	}
	unsealed, err := unseal(content)
	if err != nil {
		return parser{}, err
	}
	if len(unsealed) == len(overlayMagic) || overlayKind(unsealed[len(overlayMagic)]) != want {
		return parser{}, damaged("it is an overlay of another kind")
	}
	return parser{data: unsealed[len(overlayMagic)+1:]}, nil
}
