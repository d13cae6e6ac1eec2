package terminals

import (
	"encoding/json"
	"fmt"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// SetColors takes the colours of a client's screen (x-tandemux/colors). The client keeps them
// beyond its connection. The terminals that it holds keep them beyond its claim, until a
// client with other colours holds them.
func (ts *Terminals) SetColors(c *requests.Conn, raw json.RawMessage) {
	var p ahp.ColorsParams
	if err := params.Decode(raw, &p); err != nil {
		c.Log.Debug("ignore malformed colours", "err", err)
		return
	}
	colors, err := parseColors(p)
	if err != nil {
		c.Log.Debug("ignore malformed colours", "err", err)
		return
	}
	tx := ts.Core.Lock()
	defer tx.Unlock()
	if colors == c.Client.Colors {
		return
	}
	c.Client.Colors = colors
	tx.NoteClient(c.Client)
	for _, t := range ts.all {
		t.recolor(tx)
	}
}

// recolor gives a terminal the colours of the client that holds it. If that has none, like a
// command or a session, the terminal keeps those that a person last saw it in.
func (t *Terminal) recolor(tx core.Tx) {
	ts := t.ts
	if c := ts.colorsOf(tx, t.Value.Claim); c != t.colors && c != (emulator.Colors{}) {
		t.colors, t.dirty = c, true
		t.Term.SetColors(c)
		if t.ch != nil {
			tx.ApplyAll(t.ch, nil, nil)
		}
	}
}

// colorsOf is the colours of the client that a claim names, zero when none are known.
func (ts *Terminals) colorsOf(tx core.Tx, claim ahp.Claim) emulator.Colors {
	if claim.Kind != ahp.ClaimClient {
		return emulator.Colors{}
	}
	if cl := tx.Client(claim.ClientID); cl != nil {
		return cl.Colors
	}
	return emulator.Colors{}
}

func parseColors(p ahp.ColorsParams) (c emulator.Colors, err error) {
	if len(p.Palette) > len(c.Indexed) {
		return c, fmt.Errorf("palette: %d colours are more than %d", len(p.Palette), len(c.Indexed))
	}
	for _, f := range []struct {
		name, text string
		to         *emulator.Color
	}{{"fg", p.FG, &c.FG}, {"bg", p.BG, &c.BG}, {"cursor", p.Cursor, &c.Cursor}} {
		if *f.to, err = parseColor(f.text); err != nil {
			return c, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	for i, text := range p.Palette {
		if c.Indexed[i], err = parseColor(text); err != nil {
			return c, fmt.Errorf("palette %d: %w", i, err)
		}
	}
	c.Pictures = p.Pictures
	return c, nil
}

// parseColor parses "#rrggbb"; "" is the unknown colour.
func parseColor(s string) (emulator.Color, error) {
	if s == "" {
		return 0, nil
	}
	c, ok := emulator.ParseColor(s)
	if !ok || s[0] != '#' || len(s) != 7 {
		return 0, fmt.Errorf("%.20q is not a colour: use #rrggbb", s)
	}
	return c, nil
}
