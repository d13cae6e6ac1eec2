package markup

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// codeHead is the line above a code block with its language, nothing if it has none.
func codeHead(lang string, w int, g *Glyphs) []Line {
	if lang == "" || w < 8 {
		return nil
	}
	lang = strings.ToValidUTF8(lang[:min(len(lang), 20)], "")
	r := []Run{{Text: g.Corner + g.Rule + " " + lang, Role: Muted}}
	return []Line{{Runs: Cut(r, w, g.Ellipsis), Lead: 2}}
}

// codeLine renders a line of code, wrapped if it is too long.
func codeLine(text, lang string, s *Highlighter, w int, g *Glyphs) []Line {
	bar := []Run{{Text: g.Bar + " ", Role: Muted}}
	r := s.Line(text, lang)
	if len(r) == 0 {
		return []Line{{Runs: bar[:1], Lead: 2}}
	}
	return WrapAnywhere(r, w, Margin{bar, bar})
}

// Highlighter is the highlighter's state between lines: the string or comment that is still open.
type Highlighter struct {
	open string // the text that ends it, "" if nothing is open
	role Role
}

// Line returns the runs of a line of code. Text without a rule in the language is plain: this is
// no parser.
func (s *Highlighter) Line(text, lang string) []Run {
	if text == "" {
		return nil
	}
	l := languages()[strings.ToLower(lang)]
	switch {
	case l == nil:
		return []Run{{Text: text}}
	case l.diff:
		return []Run{{Text: text, Role: diffRole(text)}}
	}
	p := lexer{l: l, s: s, text: text}
	p.run()
	return p.out
}

// diffRole colours a line of a unified diff.
func diffRole(text string) Role {
	switch {
	case strings.HasPrefix(text, "+++"), strings.HasPrefix(text, "---"), strings.HasPrefix(text, "diff "), strings.HasPrefix(text, "index "):
		return Muted
	case strings.HasPrefix(text, "@@"):
		return callee
	case strings.HasPrefix(text, "+"):
		return Added
	case strings.HasPrefix(text, "-"):
		return Removed
	}
	return Plain
}

// lexer splits a line into runs.
type lexer struct {
	l    *language
	s    *Highlighter
	text string
	at   int
	out  []Run
}

func (p *lexer) put(to int, r Role) {
	if to <= p.at {
		return
	}
	if n := len(p.out); n > 0 && p.out[n-1].Role == r {
		p.out[n-1].Text += p.text[p.at:to]
	} else {
		p.out = append(p.out, Run{Text: p.text[p.at:to], Role: r})
	}
	p.at = to
}

func (p *lexer) run() {
	if p.s.open != "" {
		p.until(p.s.open, p.s.role, 0)
	}
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case p.comment(rest), p.quoted(rest):
		case isWordStart(rest):
			p.word(rest)
		case rest[0] >= '0' && rest[0] <= '9':
			n := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_' })
			if n < 0 {
				n = len(rest)
			}
			p.put(p.at+n, literal)
		default:
			_, n := utf8.DecodeRuneInString(rest)
			p.put(p.at+n, Plain)
		}
	}
}

// until gives a role to the text up to end. If end doesn't follow, it is the whole line, and
// stays open.
func (p *lexer) until(end string, r Role, skip int) {
	from := p.at + skip
	for i := from; i < len(p.text); i++ {
		if p.text[i] == '\\' && r == literal && end != "'''" {
			i++
			continue
		}
		if strings.HasPrefix(p.text[i:], end) {
			p.put(i+len(end), r)
			p.s.open = ""
			return
		}
	}
	p.put(len(p.text), r)
	p.s.open, p.s.role = end, r
}

func (p *lexer) comment(rest string) bool {
	for _, c := range p.l.line {
		if strings.HasPrefix(rest, c) && (c != "#" || p.at == 0 || p.text[p.at-1] == ' ' || p.text[p.at-1] == '\t') {
			p.put(len(p.text), comment)
			return true
		}
	}
	if b := p.l.block; b[0] != "" && strings.HasPrefix(rest, b[0]) {
		p.until(b[1], comment, len(b[0]))
		return true
	}
	return false
}

func (p *lexer) quoted(rest string) bool {
	for _, q := range p.l.long {
		if strings.HasPrefix(rest, q) {
			p.until(q, literal, len(q))
			return true
		}
	}
	if !strings.Contains(p.l.quotes, rest[:1]) {
		return false
	}
	p.until(rest[:1], literal, 1)
	p.s.open = "" // these strings end with their line
	return true
}

func isWordStart(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || r == '$' || r == '@' || unicode.IsLetter(r)
}

func (p *lexer) word(rest string) {
	n := strings.IndexFunc(rest[1:], func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if n < 0 {
		n = len(rest) - 1
	}
	for n++; n < len(rest) && !utf8.RuneStart(rest[n]); {
		n++
	}
	w := rest[:n]
	key := w
	if p.l.fold {
		key = strings.ToLower(w)
	}
	switch {
	case p.l.words[key]:
		p.put(p.at+n, keyword)
	case values[key]:
		p.put(p.at+n, literal)
	case n < len(rest) && rest[n] == '(':
		p.put(p.at+n, callee)
	case p.l.keys && n < len(rest) && (rest[n] == ':' || rest[n] == '='):
		p.put(p.at+n, callee)
	default:
		p.put(p.at+n, Plain)
	}
}

// values is words that are literals in most languages.
var values = set("true false nil null None True False undefined NULL nullptr")

// language is the rules for a language.
type language struct {
	line   []string  // begin a comment up to the line's end
	block  [2]string // begin and end a comment of several lines
	quotes string    // delimit strings
	long   []string  // delimit strings of several lines
	words  map[string]bool
	fold   bool // words in upper or lower case
	keys   bool // words before : or = are keys
	diff   bool
}

func set(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

var slashes = []string{"//"}

var stars = [2]string{"/*", "*/"}

// families returns the languages by the names that code blocks give them.
func families() []family {
	return []family{
		{"go golang", language{line: slashes, block: stars, quotes: `"'`, long: []string{"`"}, words: set(
			"break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var any bool byte error float32 float64 int int64 rune string uint uint64 append cap close copy delete len make max min new panic recover")}},
		{"js javascript jsx ts typescript tsx mjs", language{line: slashes, block: stars, quotes: `"'`, long: []string{"`"}, words: set(
			"abstract as async await break case catch class const continue debugger default delete do else enum export extends finally for from function get if implements import in instanceof interface let new of private protected public readonly return set static super switch this throw try type typeof var void while with yield any boolean number string never unknown")}},
		{"py python python3", language{line: []string{"#"}, quotes: `"'`, long: []string{`"""`, `'''`}, words: set(
			"and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield int str float bool list dict set tuple print")}},
		{"sh bash shell zsh console fish sh-session", language{line: []string{"#"}, quotes: `"'`, words: set(
			"if then else elif fi for while until do done case esac in function return local export set unset source alias cd echo exit sudo test exec eval trap")}},
		{"c cpp c++ h hpp cc cxx objc", language{line: slashes, block: stars, quotes: `"'`, words: set(
			"auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern float for friend if inline int long namespace new noexcept operator private protected public return short signed sizeof static struct switch template this throw try typedef typename union unsigned using virtual void volatile while size_t include define ifdef ifndef endif pragma")}},
		{"java kotlin kt scala cs csharp c# swift dart", language{line: slashes, block: stars, quotes: `"'`, long: []string{`"""`}, words: set(
			"abstract as async await boolean break byte case catch char class const continue data default do double else enum extends extension final finally float for foreach fun func get if implements import in init int interface internal is let long namespace native new object open operator out override package private protected protocol public record return sealed set short static string struct super suspend switch synchronized this throw throws trait try typealias using val var virtual void volatile when where while with yield guard self")}},
		{"rs rust", language{line: slashes, block: stars, quotes: `"`, words: set(
			"as async await box break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait type unsafe use where while bool char f32 f64 i32 i64 isize str String u8 u32 u64 usize Vec Option Result Some Ok Err")}},
		{"rb ruby", language{line: []string{"#"}, quotes: `"'`, words: set(
			"alias and begin break case class def defined do else elsif end ensure for if in module next not or redo rescue retry return self super then undef unless until when while yield require attr_accessor puts")}},
		{"php", language{line: []string{"//", "#"}, block: stars, quotes: `"'`, words: set(
			"abstract and array as break case catch class const continue declare default do echo else elseif empty extends final finally fn for foreach function global if implements include instanceof interface isset match namespace new or print private protected public readonly require return static switch throw trait try use var while yield")}},
		{"lua", language{line: []string{"--"}, block: [2]string{"--[[", "]]"}, quotes: `"'`, words: set(
			"and break do else elseif end for function goto if in local not or repeat return then until while")}},
		{"sql", language{line: []string{"--"}, block: stars, quotes: `'"`, fold: true, words: set(
			"select from where and or not in is insert into values update set delete create table alter drop index view join left right inner outer on as order by group having limit offset union all distinct primary key foreign references default check unique begin commit rollback case when then else end with exists between like count sum avg min max integer text varchar timestamp boolean")}},
		{"json jsonc json5", language{line: slashes, quotes: `"`}},
		{"yaml yml", language{line: []string{"#"}, quotes: `"'`, keys: true}},
		{"toml ini conf cfg properties env dotenv", language{line: []string{"#", ";"}, quotes: `"'`, keys: true}},
		{"html xml svg vue svelte", language{block: [2]string{"<!--", "-->"}, quotes: `"'`, keys: true}},
		{"css scss less", language{line: slashes, block: stars, quotes: `"'`, keys: true}},
		{"dockerfile docker", language{line: []string{"#"}, quotes: `"'`, words: set(
			"FROM RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL AS")}},
		{"make makefile cmake", language{line: []string{"#"}, quotes: `"'`, keys: true, words: set(
			"ifeq ifneq ifdef ifndef else endif include define endef export PHONY")}},
		{"zig", language{line: slashes, quotes: `"'`, words: set(
			"align allowzero and anyframe anytype asm async await break catch comptime const continue defer else enum errdefer error export extern fn for if inline noalias nosuspend or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while u8 u32 u64 usize void bool")}},
		{"hs haskell elm ocaml ml fsharp", language{line: []string{"--", "//"}, quotes: `"`, words: set(
			"case class data default deriving do else foreign if import in infix instance let match module mutable newtype of open rec then type val where with fun function begin end")}},
		{"ex exs elixir erl erlang", language{line: []string{"#", "%"}, quotes: `"'`, words: set(
			"after and case catch cond def defmodule defp defstruct do else end fn for if import in not or quote raise receive require rescue try unless use when with")}},
		{"hcl tf terraform nix", language{line: []string{"#", "//"}, block: stars, quotes: `"`, keys: true, words: set(
			"resource data variable output module provider locals terraform let in with rec inherit import if then else")}},
		{"proto protobuf graphql gql", language{line: []string{"//", "#"}, block: stars, quotes: `"'`, words: set(
			"syntax package import option message enum service rpc returns repeated optional required oneof map reserved type query mutation subscription fragment input interface union scalar schema")}},
		{"diff patch", language{diff: true}},
	}
}

type family struct {
	names string
	language
}

// languages is the languages by name.
var languages = sync.OnceValue(func() map[string]*language {
	m := map[string]*language{}
	all := families()
	for i := range all {
		for _, name := range strings.Fields(all[i].names) {
			m[name] = &all[i].language
		}
	}
	return m
})

// LanguageOf returns the language of a file by its name, "" if it is unknown.
func LanguageOf(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	ext := strings.ToLower(base[strings.LastIndexByte(base, '.')+1:])
	if languages()[ext] != nil {
		return ext
	}
	return ""
}
