package core

import (
	"reflect"

	"tandemux/ahp"
)

// overhead is what an entry costs beside its text, roughly.
const overhead = 200

// weight estimates the memory of an action in bytes.
func weight(a ahp.Action) int {
	if d, ok := a.(ahp.TerminalData); ok { // by far the most
		return overhead + len(d.Data)
	}
	return overhead + textOf(reflect.ValueOf(a))
}

// TurnsWeight is TurnWeight of all.
func TurnsWeight(turns []ahp.Turn) int {
	return textOf(reflect.ValueOf(turns))
}

// TurnWeight is about the size of a turn on the wire.
func TurnWeight(t ahp.Turn) int {
	return overhead + textOf(reflect.ValueOf(&t).Elem())
}

// textOf is how much text there is in a value, with the overhead of what is in lists.
func textOf(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		n = v.Len()
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n = textOf(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += textOf(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len()
		}
		for i := range v.Len() {
			n += overhead + textOf(v.Index(i))
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			n += overhead + textOf(i.Key()) + textOf(i.Value())
		}
	}
	return n
}
