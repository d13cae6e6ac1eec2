package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandemux/internal/jsonform"
	"tandemux/internal/plaintext"
)

// spaced makes a blank of what parts words.
var spaced = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

// Short is a title or the like, as others wrote it: in one line, of up to 60
// characters.
func Short(s string) string {
	const most = 60
	s = plaintext.Clean(spaced.Replace(s), "")
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// Line is text of others in one line, of any length.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if plaintext.Hidden(r) {
			return ' '
		}
		return r
	}, s)
}

// clean is standard output or standard error of all commands: what others wrote can do
// nothing to a terminal by it. Of a character in two pieces the first waits for the other.
type clean struct {
	to io.Writer

	mu   sync.Mutex // guards the following
	rest []byte
}

func (c *clean) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := append(c.rest, b...)
	whole := len(text) - plaintext.Unfinished(text)
	_, err := io.WriteString(c.to, plaintext.Clean(string(text[:whole]), "\n\t"))
	c.rest = append(c.rest[:0], text[whole:]...)
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// Raw is where w writes to, with nothing taken out: for what was asked for as it is.
func Raw(w io.Writer) io.Writer {
	if c, ok := w.(*clean); ok {
		return c.to
	}
	return w
}

// Bytes is Raw where no terminal is.
func Bytes(w io.Writer) io.Writer {
	if f, ok := Raw(w).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return w
	}
	return Raw(w)
}

// escaped is JSON in which what would do something to a terminal stands as \u escapes.
func escaped(text []byte) []byte {
	if !bytes.ContainsFunc(text, plaintext.Hidden) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if plaintext.Hidden(r) && r >= 0x7f {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// Form is a form of what a command prints with --json: values of a type, one for a run,
// or in lines as many as there are.
type Form struct {
	Type  reflect.Type
	Lines bool
}

// One is the form of a single value.
func One[T any]() Form { return Form{Type: reflect.TypeFor[T]()} }

// Stream is the form of values in JSON lines.
func Stream[T any]() Form { return Form{Type: reflect.TypeFor[T](), Lines: true} }

// jsonFlag is --json: whether it is given, and in which forms the command then prints.
type jsonFlag struct {
	on    bool
	forms []Form
}

func (f *jsonFlag) String() string { return strconv.FormatBool(f.on) }

// Type is that of a flag without a value.
func (f *jsonFlag) Type() string { return "bool" }

func (f *jsonFlag) Set(text string) (err error) {
	f.on, err = strconv.ParseBool(text)
	return err
}

// WithJSON gives a command the flag --json, with which it prints in the forms given.
func WithJSON(cmd *cobra.Command, forms ...Form) *cobra.Command {
	usage := "Print JSON"
	if len(forms) > 0 && forms[0].Lines {
		usage = "Print JSON lines"
	}
	cmd.Flags().VarPF(&jsonFlag{forms: forms}, "json", "", usage).NoOptDefVal = "true"
	return cmd
}

// Forms are the forms that a command prints in with --json; none where it has no such
// flag.
func Forms(cmd *cobra.Command) []Form {
	if f := cmd.Flags().Lookup("json"); f != nil {
		return f.Value.(*jsonFlag).forms
	}
	return nil
}

// AsJSON reports whether --json is given.
func AsJSON(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup("json")
	return f != nil && f.Value.String() == "true"
}

// Print prints a value: in the command's form where --json is given, else by text.
func Print(cmd *cobra.Command, v any, text func(w io.Writer) error) error {
	if AsJSON(cmd) {
		return printJSON(cmd, reflect.TypeOf(v), v, true)
	}
	if text == nil {
		return nil
	}
	return text(cmd.OutOrStdout())
}

// PrintLine prints a value of type T, or its JSON, as one of the command's JSON lines.
func PrintLine[T any](cmd *cobra.Command, v any) error {
	return printJSON(cmd, reflect.TypeFor[T](), v, false)
}

// printJSON prints only what the command says that it prints.
func printJSON(cmd *cobra.Command, t reflect.Type, v any, indent bool) error {
	if !slices.Contains(Forms(cmd), Form{t, !indent}) {
		return fmt.Errorf("%s has no form of %v", cmd.CommandPath(), t)
	}
	text, err := jsonform.Write(t, v, indent)
	if err == nil {
		_, err = Raw(cmd.OutOrStdout()).Write(escaped(text))
	}
	return err
}

// OnTerminal reports whether a command's input is a terminal's, with somebody to ask.
func OnTerminal(cmd *cobra.Command) bool {
	f, ok := cmd.InOrStdin().(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Agrees asks a question; everything but y or yes is no.
func Agrees(cmd *cobra.Command, question string) bool {
	fmt.Fprint(cmd.ErrOrStderr(), question+" [y/N] ")
	line, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes"
}

// WriteFile writes a file that only this user can read; over one that is there only
// with force.
func WriteFile(path string, data []byte, force bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already; choose another name, or write over it with --force", path)
	}
	if err == nil {
		err = f.Chmod(0o600)
		_, werr := f.Write(data)
		err = errors.Join(err, werr, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	return nil
}

// Hidden asks the person at the terminal for what does not show as they type it.
func Hidden(cmd *cobra.Command, what string) (string, error) {
	in, is := cmd.InOrStdin().(*os.File)
	if !is {
		return "", errors.New("nobody is here to ask")
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s (not shown): ", what)
	text, err := term.ReadPassword(int(in.Fd()))
	fmt.Fprintln(cmd.ErrOrStderr())
	return string(text), err
}
