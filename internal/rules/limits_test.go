package rules

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"testing"
)

// The limits of what one has to hold in one's head: lines of a package and of a
// file (tests and generated files not counted), fields of a struct, methods of a
// type.
const (
	maxPackageLines = 4000
	maxFileLines    = 500
	maxFields       = 20
	maxMethods      = 80
)

// slack is how far, in hundredths, a number below may stay above what is there
// before it has to be lowered.
const slack = 3

// ownPackageLines are the limits of packages that have one of their own: the larger
// ones are one thing each that has no seam; the interface's root only dispatches.
var ownPackageLines = map[string]int{
	"emulator/native": 7300,
	"ahp":             5000,
	"ui":              2450,
}

// What exceeded its limit when the limits were written, with the number that it
// may not exceed now. The numbers only fall: who makes one of these smaller
// lowers its number in the same commit, and an entry that has come below the limit
// goes.
var (
	packageExcess = map[string]int{}
	fileExcess    = map[string]int{}
	fieldExcess   = map[string]int{
		"host/task/store.Task": 22,
	}
	methodExcess = map[string]int{
		"emulator/native.Engine": 160,
	}
)

// check compares what was counted with the limit and the listed excess.
func check(t *testing.T, what string, counted map[string]int, limit func(string) int, excess map[string]int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(counted)) {
		n := counted[name]
		listed, known := excess[name]
		switch {
		case !known && n > limit(name):
			t.Errorf("%s has %d %s, the limit is %d", name, n, what, limit(name))
		case known && n > listed:
			t.Errorf("%s has grown to %d %s; %d were too many already", name, n, what, listed)
		case known && n <= limit(name):
			t.Errorf("%s is within the limit of %d %s now: take it off the list", name, limit(name), what)
		case known && n < listed-listed*slack/100:
			t.Errorf("%s has %d %s: lower its number from %d", name, n, what, listed)
		}
	}
	for name := range excess {
		if _, is := counted[name]; !is {
			t.Errorf("%s is listed with too many %s but is not there", name, what)
		}
	}
}

func only(n int) func(string) int { return func(string) int { return n } }

func TestPackageSize(t *testing.T) {
	lines := map[string]int{}
	for _, s := range read(t) {
		if !s.test && !s.generated {
			lines[s.dir] += s.lines
		}
	}
	check(t, "lines", lines, func(dir string) int {
		if n, own := ownPackageLines[dir]; own {
			return n
		}
		return maxPackageLines
	}, packageExcess)
}

func TestFileSize(t *testing.T) {
	lines := map[string]int{}
	for _, s := range read(t) {
		if !s.test && !s.generated {
			lines[s.dir+"/"+s.name] = s.lines
		}
	}
	check(t, "lines", lines, only(maxFileLines), fileExcess)
}

// A struct with many fields has many reasons to change, and so has a type with
// many methods.
func TestTypeSize(t *testing.T) {
	fields, methods := map[string]int{}, map[string]int{}
	for _, s := range read(t) {
		if s.test || s.generated {
			continue
		}
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					ts, ok := spec.(*ast.TypeSpec)
					if !ok {
						continue
					}
					if st, ok := ts.Type.(*ast.StructType); ok {
						fields[s.dir+"."+ts.Name.Name] = st.Fields.NumFields()
					}
				}
			case *ast.FuncDecl:
				if d.Recv != nil {
					methods[s.dir+"."+receiver(d.Recv.List[0].Type)]++
				}
			}
		}
	}
	check(t, "fields", fields, only(maxFields), fieldExcess)
	check(t, "methods", methods, only(maxMethods), methodExcess)
}

// receiver is the name of the type that a method belongs to.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	panic(fmt.Sprintf("a receiver of the form %T", e))
}
