package rules

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// A core.Tx stands for the sequencing lock. Only (*Core).Lock makes one, and none gets
// into what runs later or beside: a go statement, or the function of a timer or of a
// slow request.
func TestTxStandsForTheLock(t *testing.T) {
	later := []string{"AfterFunc", "after", "Aside", "Go"} // call their last argument without the lock
	made := 0
	for _, s := range read(t) {
		if !slices.Contains([]string{"host", "host/activity", "host/agentterm", "host/commands", "host/confine", "host/core", "host/requests", "host/sessions", "host/terminals"}, s.dir) {
			continue
		}
		for _, d := range s.file.Decls {
			f, _ := d.(*ast.FuncDecl)
			ast.Inspect(d, func(node ast.Node) bool {
				switch x := node.(type) {
				case *ast.CompositeLit:
					id, _ := x.Type.(*ast.Ident)
					if sel, ok := x.Type.(*ast.SelectorExpr); ok {
						id = sel.Sel
					}
					if id != nil && id.Name == "Tx" {
						made++
						if f == nil || f.Name.Name != "Lock" || s.dir != "host/core" {
							t.Errorf("%s/%s makes a Tx: call Lock", s.dir, s.name)
						}
					}
				case *ast.GoStmt:
					if takesTx(x.Call) {
						t.Errorf("%s/%s: a Tx gets into another goroutine", s.dir, s.name)
					}
				case *ast.CallExpr:
					sel, ok := x.Fun.(*ast.SelectorExpr)
					args := x.Args
					if ok && sel.Sel.Name != "Go" && len(args) > 0 {
						args = args[1:]
					}
					if ok && slices.Contains(later, sel.Sel.Name) && slices.ContainsFunc(args, func(a ast.Expr) bool { return takesTx(a) }) {
						t.Errorf("%s/%s: a Tx gets into what runs later", s.dir, s.name)
					}
				}
				return true
			})
		}
	}
	if made != 1 {
		t.Errorf("a Tx is made in %d places, want it in Lock alone", made)
	}
}

// takesTx reports whether an expression uses a variable tx that is declared outside
// of it.
func takesTx(x ast.Node) bool {
	taken := false
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return !bindsTx(n)
		case *ast.Ident:
			taken = taken || n.Name == "tx"
		}
		return true
	})
	return taken
}

// bindsTx reports whether a function literal has a tx of its own, as a parameter or by
// a declaration.
func bindsTx(l *ast.FuncLit) bool {
	for _, p := range l.Type.Params.List {
		for _, name := range p.Names {
			if name.Name == "tx" {
				return true
			}
		}
	}
	bound := false
	ast.Inspect(l.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			id, ok := a.Lhs[0].(*ast.Ident)
			bound = bound || ok && id.Name == "tx"
		}
		return true
	})
	return bound
}
