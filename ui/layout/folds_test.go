package layout

import (
	"fmt"
	"slices"
	"testing"
)

// Folds are the pane's, bounded and sorted.
func TestFolds(t *testing.T) {
	l, _ := three(t)
	l = l.Fold("p1", []string{"c3", "c1", "c3", "no id", ""})
	_, leaf, _ := l.Find("p1")
	if !slices.Equal(leaf.Folds, []string{"c1", "c3"}) {
		t.Fatalf("folds are %q", leaf.Folds)
	}
	back, err := Decode(l.Encode())
	if err != nil || !back.Equal(l) {
		t.Fatalf("read back it is %v, %s", err, back.Encode())
	}
	if l = l.Fold("p1", nil); !l.Equal(back.Fold("p1", nil)) {
		t.Errorf("unfolded it is %s", l.Encode())
	}
	var many []string
	for i := range 2 * MaxFolds {
		many = append(many, fmt.Sprint("c", i))
	}
	if _, leaf, _ = l.Fold("p1", many).Find("p1"); len(leaf.Folds) != MaxFolds {
		t.Errorf("%d folds are kept", len(leaf.Folds))
	}
	if _, err := Decode([]byte(`{"version":1,"nextId":9,"tabs":[{"id":"t1","focus":"p2","root":{"pane":"p2","terminal":"a:/1","folds":[7]}}]}`)); err == nil {
		t.Error("folds that are no texts are taken")
	}
}
