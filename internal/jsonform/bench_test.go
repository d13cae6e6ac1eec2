package jsonform

import (
	"reflect"
	"strings"
	"testing"

	"tandemux/ahp"
)

func BenchmarkWrite(b *testing.B) {
	e := ahp.Envelope{Channel: "ahp-terminal:/a", Action: ahp.TerminalData{Data: strings.Repeat("x", 1000)}, ServerSeq: 7}
	for b.Loop() {
		Write(reflect.TypeFor[ahp.Envelope](), e, false) //nolint:errcheck // it is JSON
	}
}
