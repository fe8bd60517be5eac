package layout

// Span is text[Start:End], in bytes.
type Span struct{ Start, End int }
