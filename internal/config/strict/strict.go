package strict

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// mismatch is how go-toml says that a value is of another type than a member.
var mismatch = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`TOML (.+?) into struct field .* of type (\S+)$`) })

// forms says how a value of a Go type is written.
var forms = map[string]string{
	"string": `a text, such as "x"`, "bool": "true or false", "[]string": `a list of texts, such as ["x", "y"]`,
	"int": "a whole number", "int64": "a whole number", "float64": "a number",
}

// kinds are the values of TOML as they are called in a sentence.
var kinds = map[string]string{
	"string": "a text", "integer": "a whole number", "float": "a number", "boolean": "true or false",
	"array": "a list", "table": "a table", "inline table": "a table",
}

// Decode reads a document into a struct that to points to; what is its name in an error
// about something that it doesn't have, such as "a layout".
func Decode(doc []byte, to any, what string) error {
	err := toml.NewDecoder(bytes.NewReader(doc)).DisallowUnknownFields().Decode(to)
	if unknown, is := errors.AsType[*toml.StrictMissingError](err); is && len(unknown.Errors) > 0 {
		row, _ := unknown.Errors[0].Position()
		return fmt.Errorf("line %d: %q means nothing in %s", row, strings.Join(unknown.Errors[0].Key(), "."), what)
	}
	wrong, is := errors.AsType[*toml.DecodeError](err)
	if !is {
		return err
	}
	row, _ := wrong.Position()
	text := strings.TrimPrefix(wrong.Error(), "toml: ")
	if m := mismatch().FindStringSubmatch(text); m != nil {
		form, known := forms[strings.TrimPrefix(m[2], "*")]
		if !known {
			form = "something else"
		}
		text = fmt.Sprintf("%s takes %s, not %s", strings.Join(wrong.Key(), "."), form, cmp.Or(kinds[m[1]], m[1]))
	}
	return fmt.Errorf("line %d: %s", row, text)
}
