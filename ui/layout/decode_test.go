package layout

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tandemux/ahp"
)

func TestDocument(t *testing.T) {
	l, area := three(t)
	l = must(t)(l.NewTab(uri(4))).RenameTab(0, "a <b>").RenamePane("p1", "x").Resize(area, "p1", Left, 1).GoTab(0).Zoom()
	const want = `{"version":1,"name":"main","nextId":7,"recent":["t6"],"tabs":[` +
		`{"id":"t2","name":"a <b>","root":{"axis":"row","children":[` +
		`{"pane":"p1","terminal":"ahp-terminal:/1","name":"x"},{"axis":"column","children":[` +
		`{"pane":"p3","terminal":"ahp-terminal:/2"},{"pane":"p4","terminal":"ahp-terminal:/3"}],"weights":[1,1]}],"weights":[9,11]},` +
		`"focus":"p4","recent":["p3","p1"],"zoom":true},` +
		`{"id":"t6","root":{"pane":"p5","terminal":"ahp-terminal:/4"},"focus":"p5"}]}`
	got := string(l.Encode())
	if got != want {
		t.Fatalf("the document is\n%s\nwant\n%s", got, want)
	}
	back, err := Decode([]byte(got))
	if err != nil {
		t.Fatal(err)
	}
	if !back.Equal(l) {
		t.Errorf("read back it is\n%s", back.Encode())
	}
	check(t, back)
}

func TestUnknownMembersStay(t *testing.T) {
	const doc = `{"version":1,"nextId":9,"floats":[{"pane":"p8","x":0.25}],"tabs":[{"id":"t1","focus":"p3","pinned":true,` +
		`"root":{"axis":"row","glue":1,"weights":[1,1],"children":[{"pane":"p2","terminal":"a:/1","colour":"<red>"},{"pane":"p3","terminal":"a:/2"}]}}]}`
	l, err := Decode([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	area := Rect{W: 80, H: 24}
	l = l.Resize(area, "p3", Left, 3).RenamePane("p2", "n").Swap("p2", "p3").Even().Zoom()
	got := string(l.Encode())
	for _, want := range []string{`"floats":[{"pane":"p8","x":0.25}]`, `"pinned":true`, `"glue":1`, `"colour":"<red>"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is gone from %s", want, got)
		}
	}
	again, err := Decode([]byte(got))
	if err != nil || !again.Equal(l) {
		t.Errorf("read back it is %s, %v", again.Encode(), err)
	}
}

func TestMending(t *testing.T) {
	const doc = `{"version":1,"active":7,"nextId":-4,"recent":["t1","t2","t2","nope"],"name":"a\u0007b","tabs":[` +
		`{"id":"t1","focus":"gone","recent":["p1","p1","gone"],"zoom":true,"preset":"spiral","root":{"pane":"p1","terminal":"a:/1"}},` +
		`{"id":"t2","root":{"axis":"row","weights":[1,2,1],"children":[{"pane":"p2","terminal":"a:/1"},` +
		`{"axis":"row","weights":[1,3],"children":[{"pane":"p3","terminal":"a:/1"},{"pane":"p4","terminal":"a:/1"}]},` +
		`{"pane":"p5","terminal":"a:/1"}]}}]}`
	l, err := Decode([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	check(t, l)
	first := l.Tabs[0]
	if l.Active != 0 || l.NextID != 1 || l.Name != "ab" || len(l.Recent) != 1 || first.Focus != "p1" || first.Zoom || first.Preset != "" || len(first.Recent) != 0 {
		t.Errorf("mended to %s", l.Encode())
	}
	// A row in a row becomes one row, with the inner one's share.
	if got := fmt.Sprint(l.Tabs[1].Root.Weights); got != "[4 2 6 4]" {
		t.Errorf("the weights are %s", got)
	}
	l, pane, err := l.NewTab("a:/2")
	if err != nil || pane == "p1" {
		t.Errorf("a new pane is %s, %v", pane, err)
	}
	check(t, l)
}

func TestHostileDocuments(t *testing.T) {
	leaf := func(i int) string { return fmt.Sprintf(`{"pane":"p%d","terminal":"a:/1"}`, i) }
	tab := func(root string) string { return `{"version":1,"tabs":[{"id":"t","root":` + root + `}]}` }
	row := func(kids, weights string) string {
		return `{"axis":"row","children":[` + kids + `],"weights":` + weights + `}`
	}
	many := func(n int) string {
		s := make([]string, n)
		for i := range s {
			s[i] = leaf(i)
		}
		return strings.Join(s, ",")
	}
	tabs := func(n int) string {
		s := make([]string, n)
		for i := range s {
			s[i] = fmt.Sprintf(`{"id":"t%d","root":%s}`, i, leaf(i))
		}
		return `{"version":1,"tabs":[` + strings.Join(s, ",") + `]}`
	}
	deep := leaf(0)
	for i := 1; i < MaxDepth; i++ {
		deep = fmt.Sprintf(`{"axis":%q,"children":[%s,%s]}`, []string{"row", "column"}[i%2], deep, leaf(i))
	}
	for _, good := range []string{tab(leaf(1)), tabs(MaxTabs), tab(deep), tab(`{"axis":"row","children":[` + many(MaxPanes) + `]}`), `{"version":1}`} {
		if l, err := Decode([]byte(good)); err != nil {
			t.Errorf("%.80s: %v", good, err)
		} else {
			check(t, l)
		}
	}
	for _, c := range []struct{ doc, why string }{
		{``, "EOF"},
		{`null`, "version"},
		{`[]`, "array"},
		{`{"version":1`, "EOF"},
		{`{}`, "version"},
		{`{"version":2}`, "newer"},
		{`{"version":"1"}`, "/version"},
		{`{"version":1,"tabs":{}}`, "/tabs"},
		{`{"version":1,"tabs":[null]}`, "tab 1: an id is missing"},
		{`{"version":1,"tabs":[{"id":"t"}]}`, "a pane is missing"},
		{`{"version":1,"tabs":[{"root":` + leaf(1) + `}]}`, "id is missing"},
		{`{"version":1,"tabs":[{"id":"a b","root":` + leaf(1) + `}]}`, "ASCII"},
		{`{"version":1,"tabs":[{"id":"t","root":` + leaf(1) + `},{"id":"t","root":` + leaf(2) + `}]}`, "used twice"},
		{tabs(MaxTabs + 1), "65 tabs"},
		{tab(`null`), "a pane is missing"},
		{tab(`{"pane":"p1"}`), "terminal is missing"},
		{tab(`{"pane":"p1","terminal":"a\u0000"}`), "no address"},
		{tab(`{"terminal":"a:/1"}`), "id is missing"},
		{tab(`{"pane":"p1","terminal":"a:/1","axis":"row"}`), "members of a split"},
		{tab(row(leaf(1)+","+leaf(1), "[1,1]")), "occurs twice"},
		{tab(row(leaf(1), "[1]")), "one child"},
		{tab(row(leaf(1)+","+leaf(2), "[1]")), "1 weights for 2"},
		{tab(row(leaf(1)+","+leaf(2), "[1,0]")), "weight 0"},
		{tab(row(leaf(1)+","+leaf(2), "[1,99999999]")), "weight 99999999"},
		{tab(row(leaf(1)+","+leaf(2), "[1,1.5]")), "/tabs/0/root/weights/1"},
		{tab(`{"axis":"up","children":[` + many(2) + `]}`), "axis"},
		{tab(`{"axis":"row","pane":"p","children":[` + many(2) + `]}`), "members of a pane"},
		{tab(`{"axis":"row","children":[` + many(MaxPanes+1) + `]}`), "257 panes"},
		{tab(`{"axis":"column","children":[` + leaf(999) + "," + deep + `]}`), "levels"},
		{"{\"version\":1,\"name\":\"\xff\"}", "UTF-8"},
		{`{"version":1,"x":"` + strings.Repeat("x", 256<<10) + `"}`, "at most"},
		{tab(strings.Repeat(`{"axis":"row","children":[`, 5000)), "depth"},
		{tab(strings.Repeat(`{"axis":"row","children":[`, 4000) + leaf(1) + strings.Repeat(`,`+leaf(2)+`]}`, 4000)), "levels"},
	} {
		_, err := Decode([]byte(c.doc))
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%.80s: %v, want %q", c.doc, err, c.why)
		}
	}
}

func TestBoundIsTheChannels(t *testing.T) {
	if MaxBytes != ahp.MaxLayoutBytes {
		t.Errorf("a document may have %d bytes, the channel's state %d", MaxBytes, ahp.MaxLayoutBytes)
	}
}

func TestLayoutIsAJSONMember(t *testing.T) {
	l, _ := three(t)
	raw, err := json.Marshal(map[string]any{"doc": l})
	if err != nil {
		t.Fatal(err)
	}
	var back struct{ Doc Layout }
	if err := json.Unmarshal(raw, &back); err != nil || !back.Doc.Equal(l) {
		t.Errorf("read back it is %s, %v", back.Doc.Encode(), err)
	}
	if err := json.Unmarshal([]byte(`{"doc":{"version":9}}`), &back); err == nil {
		t.Error("a later version was read")
	}
}
