package main

import (
	"bytes"
	"image"
	"os"
	"slices"
	"strings"
	"testing"

	"rsc.io/qr"
)

// TestLinks: what other machines reach comes first, and a name is told with addresses.
func TestLinks(t *testing.T) {
	got := linksOf([]string{"ws://127.0.0.1:7070", "wss://box.example:7443", "ws://[::1]:7070"}, "", "S")
	want := []string{"https://box.example:7443/web/#S", "http://127.0.0.1:7070/web/#S", "http://[::1]:7070/web/#S"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	all := byAddress([]string{"ws://127.0.0.1:1", "wss://" + own + ":7443"})
	if all[0] != "ws://127.0.0.1:1" || all[len(all)-1] != "wss://"+own+":7443" {
		t.Errorf("got %q", all)
	}
	for _, u := range all[1 : len(all)-1] {
		if !strings.HasPrefix(u, "wss://") || !strings.HasSuffix(u, ":7443") {
			t.Errorf("an address is %q", u)
		}
	}
}

// TestQR: the half blocks are the code, module by module.
func TestQR(t *testing.T) {
	const text = "https://192.0.2.1:7443/web/#ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	var b bytes.Buffer
	if err := printQR(&b, text); err != nil {
		t.Fatal(err)
	}
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	at := func(p image.Point) bool { // black, by what is drawn
		cell := []rune(rows[(p.Y+2)/2])[p.X+2]
		if (p.Y+2)%2 == 0 {
			return cell == ' ' || cell == '▄'
		}
		return cell == ' ' || cell == '▀'
	}
	for y := range code.Size {
		for x := range code.Size {
			if at(image.Pt(x, y)) != code.Black(x, y) {
				t.Fatalf("the module at %d, %d is not what is drawn", x, y)
			}
		}
	}
}
