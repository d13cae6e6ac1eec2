package markup

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/text"

	"tandemux/ui/words"
)

// The largest pieces that are parsed at once, in bytes. A chunk that reaches maxChunk is closed
// at the end of its line; a list is closed at its next item or at maxList. A line that reaches
// maxLine is split.
const (
	maxChunk = 4 << 10
	maxList  = 16 << 10
	maxLine  = 2 << 10
)

// chunkKind is the kind of a chunk, which decides where it ends.
type chunkKind uint8

const (
	proseChunk chunkKind = iota
	listChunk            // lists and indented code; blank lines don't end it
	codeChunk            // fenced code
)

// chunk is a run of top-level blocks.
type chunk struct {
	kind  chunkKind
	from  int
	glued bool // it continues the previous chunk, without a blank line between

	fence  string // the fence of a codeChunk
	indent int    // indentation of the fence
	lang   string
	body   int  // offset at which the code begins
	shut   bool // its closing fence was seen
}

// Markdown is a growing text and its lines for a width. The package comment describes chunks.
type Markdown struct {
	text []byte

	// Splitting into chunks. All fields except closed and read concern the open chunk.
	closed []chunk
	open   chunk
	begun  bool   // there is an open chunk
	blank  bool   // the last line was blank
	nested string // the fence within a list or quote
	read   int    // length of the text that was split
	mid    bool   // read is within a long line

	// Rendering for a width; w is 0 before the first.
	w     int
	g     *Glyphs
	done  int         // number of closed chunks that were rendered
	lines []Line      // lines of those, and of the open code up to coded
	tail  []Line      // lines of the rest
	coded int         // offset up to which an open code chunk is in lines; 0 for none
	state Highlighter // at coded
	at    int         // len(text) when tail was made
	codes []code      // the code blocks in lines, then those in tail
	firm  int         // number of codes in lines
}

// code is a code block.
type code struct {
	line     int // its first line
	from, to int // range of the text
}

// Append appends text, without its control characters.
func (m *Markdown) Append(s string) {
	m.text = append(m.text, words.Lines(s)...)
	for {
		rest := m.text[m.read:]
		n := bytes.IndexByte(rest, '\n')
		switch {
		case n >= 0 && n < maxLine:
			m.cutLine(string(rest[:n]), m.read+n+1)
			m.mid = false
		case n >= maxLine || len(rest) >= maxLine:
			m.cutLong(rest)
		default:
			return
		}
	}
}

// cutLong splits a line that is too long.
func (m *Markdown) cutLong(rest []byte) {
	n := longCut(rest)
	goes := m.begun && m.open.kind == codeChunk || m.nested != ""
	m.cutLine(string(rest[:n]), m.read+n)
	m.mid = true
	if !goes {
		m.close()
		m.start(m.read, proseChunk)
		m.open.glued = true
	}
}

func (m *Markdown) start(at int, kind chunkKind) {
	m.open, m.begun, m.blank = chunk{kind: kind, from: at}, true, false
}

func (m *Markdown) close() {
	if m.begun {
		m.closed = append(m.closed, m.open)
	}
	m.begun, m.nested = false, ""
}

// cutLine handles a whole line, which ends at next: it decides whether a chunk ends or begins.
func (m *Markdown) cutLine(text string, next int) {
	at := m.read
	m.read = next
	if m.begun && m.open.kind == codeChunk {
		if !m.mid && endsFence(text, m.open.fence) {
			m.open.shut = true
			m.close()
		}
		return
	}
	if m.nested != "" {
		if !m.mid && endsFence(text, m.nested) {
			m.nested = ""
		}
		m.bound(next)
		return
	}
	if strings.TrimSpace(text) == "" {
		m.blank = m.begun
		return
	}
	kind, fresh := m.begins(text)
	long := m.begun && m.open.kind == listChunk && at-m.open.from >= maxChunk && isItem(text) && leading(text) < 2
	if fresh || long {
		m.close()
		if !fresh {
			kind = listChunk
		}
		m.start(at, kind)
		m.open.glued = !fresh
		if kind == codeChunk {
			m.open.fence, m.open.lang = fenceOf(text)
			m.open.indent, m.open.body = leading(text), next
			return
		}
	} else if m.open.kind == proseChunk && isItem(text) {
		m.open.kind = listChunk
	}
	m.blank = false
	if f, _ := fenceOf(strings.TrimLeft(text, " >")); f != "" {
		m.nested = f
	}
	m.bound(next)
}

// bound closes a chunk that is too large. An open fence in it continues as a chunk.
func (m *Markdown) bound(next int) {
	most := maxChunk
	if m.open.kind == listChunk {
		most = maxList
	}
	if next-m.open.from < most {
		return
	}
	fence := m.nested
	m.close()
	if fence != "" {
		m.start(next, codeChunk)
		m.open.fence, m.open.body, m.open.glued = fence, next, true
	}
}

// begins reports whether a line that is not blank begins a chunk, and of which kind.
func (m *Markdown) begins(text string) (kind chunkKind, fresh bool) {
	in := leading(text)
	switch f, _ := fenceOf(text); {
	case in < 4 && f != "" && !(m.begun && m.open.kind == listChunk && in > 0):
		return codeChunk, true
	case m.begun && !m.blank:
		return 0, false
	case m.begun && m.open.kind == listChunk && (in >= 2 || isItem(text)):
		return 0, false
	case in >= 4, isItem(text):
		return listChunk, true
	}
	return proseChunk, true
}

// leading returns the number of blanks at the start of a line.
func leading(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// fenceOf returns the fence that a line opens, "" for none, and its language.
func fenceOf(s string) (fence, lang string) {
	s = strings.TrimLeft(s, " ")
	if s == "" || s[0] != '`' && s[0] != '~' {
		return "", ""
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	info := strings.TrimSpace(s[n:])
	if n < 3 || s[0] == '`' && strings.Contains(info, "`") {
		return "", ""
	}
	lang, _, _ = strings.Cut(info, " ")
	return s[:n], strings.Trim(lang, "{}.")
}

// endsFence reports whether a line closes a fence.
func endsFence(s, fence string) bool {
	s = strings.TrimSpace(strings.TrimLeft(s, " >"))
	return len(s) >= len(fence) && strings.Trim(s, fence[:1]) == ""
}

// isItem reports whether a line is an item of a list.
func isItem(s string) bool {
	s = strings.TrimLeft(s, " ")
	n := 0
	switch {
	case s == "":
		return false
	case strings.ContainsRune("-*+", rune(s[0])):
		n = 1
	default:
		for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return false
		}
		n++
	}
	if n == 1 && isRule(s) {
		return false
	}
	return n == len(s) || s[n] == ' '
}

// isRule reports whether a line is a thematic break.
func isRule(s string) bool {
	s = strings.ReplaceAll(s, " ", "")
	return len(s) >= 3 && strings.ContainsRune("-*_", rune(s[0])) && strings.Trim(s, s[:1]) == ""
}

// Render updates the lines for a width and returns their number.
func (m *Markdown) Render(w int, g *Glyphs) int {
	if m.w != w || m.g != g {
		m.w, m.g, m.done, m.lines, m.coded, m.at, m.codes, m.firm = w, g, 0, nil, 0, -1, nil, 0
	}
	if m.at == len(m.text) {
		return m.Len()
	}
	m.at = len(m.text)
	m.codes = m.codes[:m.firm]
	for ; m.done < len(m.closed); m.done++ {
		end := m.read
		if m.done+1 < len(m.closed) {
			end = m.closed[m.done+1].from
		} else if m.begun {
			end = m.open.from
		}
		c := m.closed[m.done]
		if c.kind == codeChunk {
			m.moreCode(c, end, true)
			m.coded = 0
			continue
		}
		m.lines = append(m.lines, m.chunk(c, end, len(m.lines))...)
	}
	m.firm = len(m.codes)
	m.renderTail()
	m.firm = min(m.firm, len(m.codes))
	return m.Len()
}

// renderTail renders the open chunk and the incomplete line.
func (m *Markdown) renderTail() {
	m.tail = nil
	if m.begun && m.open.kind == codeChunk {
		m.moreCode(m.open, m.read, false)
		m.firm = len(m.codes)
		rest := string(m.text[m.read:])
		if rest != "" && !(!m.mid && endsFence(rest, m.open.fence)) {
			s := m.state
			m.tail = codeLine(dedent(rest, m.open.indent), m.open.lang, &s, m.w, m.g)
		}
		return
	}
	rest := string(m.text[m.read:])
	c := m.open
	end := len(m.text)
	if strings.TrimSpace(rest) == "" {
		end = m.read
	}
	if m.nested == "" && end > m.read && !m.mid {
		kind, fresh := m.begins(rest)
		if fresh {
			// The line begins a chunk as it is now.
			if m.begun {
				m.tail = m.chunk(c, m.read, len(m.lines))
			}
			m.tail = append(m.tail, m.fresh(kind, rest)...)
			return
		}
	}
	if m.begun && end > c.from {
		m.tail = m.chunk(c, end, len(m.lines))
	}
}

// fresh renders an incomplete line that begins a chunk.
func (m *Markdown) fresh(kind chunkKind, rest string) []Line {
	first := len(m.lines) + len(m.tail)
	if kind != codeChunk {
		return m.chunk(chunk{kind: kind, from: m.read}, len(m.text), first)
	}
	_, lang := fenceOf(rest)
	out := m.gap(chunk{}, first)
	m.codes = append(m.codes, code{line: first + len(out), from: len(m.text), to: len(m.text)})
	return append(out, codeHead(lang, m.w, m.g)...)
}

// gap returns the blank line before a chunk.
func (m *Markdown) gap(c chunk, first int) []Line {
	if first == 0 || c.glued {
		return nil
	}
	return []Line{{}}
}

// chunk renders a chunk that is not fenced code. Its first line has the number first.
func (m *Markdown) chunk(c chunk, end, first int) []Line {
	out := m.gap(c, first)
	r := blocks{w: m.w, g: m.g, src: m.text[c.from:end], off: c.from, first: first + len(out)}
	out = append(out, r.children(grammar().Parse(text.NewReader(r.src)), Margin{}, true)...)
	m.codes = append(m.codes, r.codes...)
	if len(out) == 1 && len(out[0].Runs) == 0 {
		return nil // it shows nothing, such as a comment or a definition
	}
	return out
}

// moreCode renders the new lines of a code chunk.
func (m *Markdown) moreCode(c chunk, end int, closed bool) {
	if m.coded == 0 {
		m.lines = append(m.lines, m.gap(c, len(m.lines))...)
		m.codes = append(m.codes, code{line: len(m.lines), from: c.body, to: c.body})
		if !c.glued {
			m.lines = append(m.lines, codeHead(c.lang, m.w, m.g)...)
		}
		m.coded, m.state = c.body, Highlighter{}
	}
	body := m.text[m.coded:end]
	if closed && c.shut { // the last line is the closing fence
		trimmed := bytes.TrimRight(body, " \n")
		cut := bytes.LastIndexByte(trimmed, '\n') + 1
		body = body[:cut]
	}
	for len(body) > 0 {
		n := bytes.IndexByte(body, '\n')
		long := n < 0 || n >= maxLine
		if long {
			n = longCut(body)
		}
		m.lines = append(m.lines, codeLine(dedent(string(body[:n]), c.indent), c.lang, &m.state, m.w, m.g)...)
		if !long {
			n++
		}
		m.coded += n
		body = body[n:]
	}
	if i := len(m.codes) - 1; i >= 0 {
		m.codes[i].to = m.coded
	}
}

// longCut returns where to split a line that is too long: at a blank if possible.
func longCut(b []byte) int {
	if len(b) < maxLine {
		return len(b)
	}
	n := bytes.LastIndexByte(b[:maxLine], ' ') + 1
	if n <= 0 {
		for n = maxLine; n > maxLine-utf8.UTFMax && !utf8.RuneStart(b[n-1]); {
			n--
		}
		n-- // the last rune may be incomplete
	}
	return n
}

// dedent removes up to n blanks from the front.
func dedent(s string, n int) string {
	for n > 0 && strings.HasPrefix(s, " ") {
		s, n = s[1:], n-1
	}
	return s
}

// Line returns the line with index i, as last rendered.
func (m *Markdown) Line(i int) Line {
	if i < len(m.lines) {
		return m.lines[i]
	}
	return m.tail[i-len(m.lines)]
}

// Len is the number of lines, as last rendered.
func (m *Markdown) Len() int { return len(m.lines) + len(m.tail) }

func (m *Markdown) Source() string { return string(m.text) }

// Gist is the text's subject on one line: its newest bold heading, as models write while they
// think, or its first words.
func (m *Markdown) Gist() string {
	const far = 4 << 10
	tail := string(m.text[max(len(m.text)-far, 0):])
	if end := strings.LastIndex(tail, "**"); end > 0 {
		if from := strings.LastIndex(tail[:end], "**"); from >= 0 {
			if s := tail[from+2 : end]; s != "" && !strings.Contains(s, "\n") {
				return words.Line(s)
			}
		}
	}
	return words.Line(strings.ToValidUTF8(string(m.text[:min(len(m.text), 200)]), ""))
}

// Blocks is the number of code blocks.
func (m *Markdown) Blocks() int { return len(m.codes) }

// Block returns the range of lines of a code block.
func (m *Markdown) Block(n int) (from, to int) {
	from = m.codes[n].line
	for to = from; to < m.Len() && len(m.Line(to).Runs) > 0; {
		to++
	}
	return from, to
}

// CodeText returns the code of a block.
func (m *Markdown) CodeText(n int) string {
	k := m.codes[n]
	text := string(m.text[k.from:min(k.to, len(m.text))])
	if k.to == m.coded && m.begun && m.open.kind == codeChunk {
		text = string(m.text[k.from:m.read])
	}
	// A code block in a list is indented as the list is.
	rows := strings.Split(strings.TrimRight(text, "\n"), "\n")
	least := -1
	for _, r := range rows[min(1, len(rows)-1):] {
		if strings.TrimSpace(r) != "" && (least < 0 || leading(r) < least) {
			least = leading(r)
		}
	}
	if k.to > k.from && k.from > 0 && m.text[k.from-1] == ' ' { // its first line has no indentation
		for i := 1; i < len(rows); i++ {
			rows[i] = dedent(rows[i], least)
		}
	}
	return strings.Join(rows, "\n") + "\n"
}
