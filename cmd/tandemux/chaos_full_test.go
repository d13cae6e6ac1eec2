package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"tandemux/ahp"
)

// paintsMain answers each line with its number and, after "paint", fills a screen
// of wideSide by wideSide with cells that each have colours of their own, which is
// more than a journal has room for. "end" ends it.
func paintsMain() {
	term.MakeRaw(0) //nolint:errcheck // then what is typed shows, and the test fails
	code, _ := strconv.Atoi(os.Args[1])
	in := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	for in.Scan() {
		word, n, _ := strings.Cut(in.Text(), " ")
		if word == "end" {
			os.Exit(code)
		}
		if word == "paint" {
			fmt.Fprint(out, "\x1b[H")
			for y := range wideSide - 1 {
				for x := range wideSide - 1 {
					fmt.Fprintf(out, "\x1b[38;2;%d;%d;%dm\x1b[48;2;%d;%d;%dm#", x%256, y%256, (x+y)%256, y%256, x%256, (x*y)%256)
				}
				fmt.Fprint(out, "\x1b[m\r\n")
			}
		}
		fmt.Fprintf(out, "done %s.\r\n", n)
		out.Flush()
	}
}

const (
	// wideSide is the painted screen's width and height.
	wideSide = 330
	// wideRoom is how large a half of a terminal's journal may be: less than that
	// screen takes, and more than a history of styled lines.
	wideRoom = 3 << 20
)

// openWide makes the terminal that fillJournal uses.
func (x *chaos) openWide() {
	x.wide = &chaosTerm{uri: chaosScheme + "wide", kind: "wide", code: 99, seqs: map[int64]int{}, doubtful: map[int]bool{}}
	x.open(x.wide, "paints", "99")
}

// fillJournal makes a journal too small for what its terminal shows, waits until
// the host says so, and kills it.
func (x *chaos) fillJournal() {
	x.resize(x.wide, wideSide, wideSide)
	x.ask(x.wide, "paint")
	x.await("the host to warn of the full journal", func() bool { return strings.Contains(x.warning(), x.wide.uri) })
	x.killHost()
}

// checkWide wants the painter to answer, also after its journal was full, and no
// warning to be left once its screen is small.
func (x *chaos) checkWide() {
	x.Helper()
	x.ask(x.wide, "more")
	x.resize(x.wide, 80, 24)
	x.await("the warning of the full journal to go", func() bool {
		x.ask(x.wide, "more")
		return !strings.Contains(x.warning(), x.wide.uri)
	})
}

// ask types a word and waits for its answer; one that was lost is typed anew.
func (x *chaos) ask(t *chaosTerm, word string) {
	x.Helper()
	for range 3 {
		t.sent++
		x.await("a line to be taken", func() bool {
			_, err := x.views[0].Dispatch(t.uri, ahp.TerminalInput{Data: fmt.Sprintf("%s %d\n", word, t.sent)})
			return err == nil
		})
		want := fmt.Sprintf("done %d.", t.sent)
		for end := time.Now().Add(waitLimit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			var r ahp.ReadResult
			err := x.views[1].Call(x.ctx(), ahp.MethodRead, ahp.ReadParams{Channel: t.uri, What: ahp.ReadScreen}, &r)
			if err == nil && strings.Contains(r.Text, want) {
				return
			}
		}
	}
	x.Fatalf("%s answers nothing", t.uri)
}

// resize changes a terminal's size.
func (x *chaos) resize(t *chaosTerm, cols, rows int) {
	x.Helper()
	x.await(fmt.Sprintf("%s to be resized", t.uri), func() bool {
		_, err := x.views[0].DispatchWait(x.ctx(), t.uri, ahp.TerminalResized{Cols: cols, Rows: rows})
		return err == nil
	})
}

// warning is what the host's owner has to see to.
func (x *chaos) warning() string {
	var r ahp.HostResult
	x.views[1].Call(x.ctx(), ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &r) //nolint:errcheck // asked again
	return r.Warning
}
