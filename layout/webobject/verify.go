package webobject

// Verify reads a whole storage package: the zip down to every byte of its
// headers, the CRCs, description and map against the Web objects, those
// against their hashes, and the holes. It returns the first error of Open or
// Reader.Objects, of which a caller who reads the pages needs no Verify.
func Verify(spf []byte) error {
	r, err := Open(spf)
	if err != nil {
		return err
	}
	inflater := newInflater()
	inflater.reuse = true // nobody keeps an object
	for _, err := range r.objects(inflater) {
		if err != nil {
			return err
		}
	}
	return nil
}
