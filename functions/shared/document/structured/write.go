package structured

import (
	"fmt"
	"strconv"
	"strings"
)

// Markdown returns the page in CommonMark 0.31, with tables as in GitHub Flavored Markdown.
// It begins with the title as a heading, unless the page's own first heading is the title.
func (p *Page) Markdown() string {
	text, _ := p.MarkdownParts()
	return text
}

// MarkdownParts returns the page in Markdown, as Markdown does, and the offset in this text, in bytes, at
// which each element of Parts begins.
func (p *Page) MarkdownParts() (markdown string, starts []int) {
	var w strings.Builder
	if p.Title != "" && !p.beginsWithTitle() {
		w.WriteString("# " + escaped(p.Title) + "\n\n")
	}
	starts = make([]int, 0, len(p.Parts))
	for i := range p.Parts {
		part := &p.Parts[i]
		starts = append(starts, w.Len())
		text := part.markdown()
		if text == "" {
			continue
		}
		if i > 0 && !(part.isTight() && p.Parts[i-1].isTight()) {
			w.WriteByte('\n')
			starts[i]++
		}
		prefix := strings.Repeat("> ", min(part.Quote, maxIndent))
		for line := range strings.Lines(text) {
			if line = prefix + strings.TrimSuffix(line, "\n"); strings.Trim(line, " >") == "" {
				line = strings.TrimRight(line, " ")
			}
			w.WriteString(line + "\n")
		}
	}
	markdown = strings.TrimLeft(w.String(), "\n")
	for i := range starts {
		starts[i] = max(0, starts[i]-(w.Len()-len(markdown)))
	}
	return markdown, starts
}

// beginsWithTitle reports whether the first heading among the page's first three parts is of
// level 1, or has the text of the title.
func (p *Page) beginsWithTitle() bool {
	for i := range p.Parts[:min(3, len(p.Parts))] {
		if part := &p.Parts[i]; part.Kind == Heading {
			return part.Level == 1 || part.Text == p.Title
		}
	}
	return false
}

// isTight reports whether a part is an item of a list. In Markdown and plain text, a blank line
// separates two parts, unless both are items.
func (p *Part) isTight() bool { return p.Kind == Item }

// maxIndent limits the prefix of a line: the indent in nested lists, and the signs > in nested
// quotes. Lists and quotes that are nested deeper get the prefix of this depth. Otherwise the
// prefixes could make a hostile page, with deep nesting, grow to many times its size.
const maxIndent = 12

func (p *Part) markdown() string {
	level := min(p.List, maxIndent)
	indent := strings.Repeat("    ", max(0, level))
	switch p.Kind {
	case Heading:
		return strings.Repeat("#", p.Level) + " " + oneLine(p.marked) + "\n"
	case Item:
		marker := "-   "
		if p.Ordinal > 0 {
			marker = fmt.Sprintf("%-4s", strconv.Itoa(p.Ordinal)+". ")
		}
		outer := strings.Repeat("    ", max(0, level-1))
		return outer + marker + indented(lineStart(p.marked), outer+strings.Repeat(" ", len(marker)))
	case Term:
		return indent + "**" + oneLine(strings.ReplaceAll(p.marked, "**", "")) + "**\n"
	case Definition:
		return indent + ":   " + indented(p.marked, indent+"    ")
	case Code:
		fence := fenceFor(p.Text, 3)
		return indent + indented(fence+p.Language+"\n"+p.Text+"\n"+fence, indent)
	case Table:
		return p.tableMarkdown(indent)
	case Image:
		image := "![" + escaped(p.Text) + "](" + destination(p.Address) + ")"
		if p.Caption != "" {
			image += "\n*" + escaped(p.Caption) + "*"
		}
		return image + "\n"
	}
	return indent + indented(lineStart(p.marked), indent)
}

// tableMarkdown returns a table in Markdown, with an indent before each line. The first row of the
// table is the header, which is made as wide as the widest row. All other rows may be shorter
// (GitHub Flavored Markdown 0.29, 4.10).
func (p *Part) tableMarkdown(indent string) string {
	width := 0
	for _, row := range p.cells {
		width = max(width, len(row))
	}
	var w strings.Builder
	if p.Caption != "" {
		w.WriteString(indent + escaped(oneLine(p.Caption)) + "\n\n")
	}
	for i, row := range p.cells {
		w.WriteString(indent + "|")
		cells := len(row)
		if i == 0 {
			cells = width
		}
		for column := range cells {
			cell := ""
			if column < len(row) {
				cell = inCell.Replace(row[column])
			}
			w.WriteString(" " + cell + " |")
		}
		w.WriteByte('\n')
		if i == 0 {
			w.WriteString(indent + "|" + strings.Repeat(" --- |", width) + "\n")
		}
	}
	return w.String()
}

var inCell = strings.NewReplacer("\n", "<br>", "|", `\|`)

// indented returns a text with an indent before each line except the first. It trims the text, and
// ends it with a line feed.
func indented(text, indent string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+indent) + "\n"
}

// lineStart escapes the beginnings of lines that would be markup in a paragraph, such as "1." or
// "#". It ends all lines but the last with two spaces, which make a line break.
func lineStart(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case line == "":
		case strings.ContainsRune("#>+-=~|", rune(line[0])):
			lines[i] = `\` + line
		default:
			digits := strings.TrimLeft(line, "0123456789")
			if n := len(line) - len(digits); n > 0 && n < 10 && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")) {
				lines[i] = line[:n] + `\` + digits
			}
		}
	}
	return strings.Join(lines, "  \n") // two spaces: a line break
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func escaped(text string) string {
	w := inline{text: []byte(oneLine(text))}
	w.escape(w.text)
	return w.out.String()
}

// Text returns the page as plain text: its title, and one or more lines for each part.
func (p *Page) Text() string {
	var w strings.Builder
	if p.Title != "" && !p.beginsWithTitle() {
		w.WriteString(p.Title + "\n")
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		if w.Len() > 0 && !(part.isTight() && i > 0 && p.Parts[i-1].isTight()) {
			w.WriteByte('\n')
		}
		w.WriteString(part.plain() + "\n")
	}
	return w.String()
}

func (p *Part) plain() string {
	switch p.Kind {
	case Item:
		marker := "- "
		if p.Ordinal > 0 {
			marker = strconv.Itoa(p.Ordinal) + ". "
		}
		return strings.Repeat("  ", max(0, min(p.List, maxIndent)-1)) + marker + oneLine(p.Text)
	case Table:
		var lines []string
		if p.Caption != "" {
			lines = append(lines, oneLine(p.Caption))
		}
		for _, row := range p.Rows {
			cells := make([]string, len(row))
			for i, cell := range row {
				cells[i] = oneLine(cell)
			}
			lines = append(lines, strings.Join(cells, "\t"))
		}
		return strings.Join(lines, "\n")
	case Image:
		return "[" + strings.Join(strings.Fields(p.Text+" "+p.Caption), " ") + "]"
	}
	return p.Text
}
