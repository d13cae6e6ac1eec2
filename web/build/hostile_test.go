package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pieces are what hostile texts are made of: markup, addresses, Markdown, sequences that
// terminals obey, characters that hide or turn text, and halves of all that.
var pieces = []string{
	hostile, `<svg onload=window.hacked=1>`, `"><img src=x onerror=window.hacked=1>`, `<style>@import "//evil.example"</style>`, `<iframe srcdoc="<script>parent.hacked=1</script>">`,
	`<a href="javascript:window.hacked=1">x</a>`, `<base href="//evil.example/">`, `<meta http-equiv=refresh content="0;url=//evil.example">`, `</textarea></title></script>`, `&lt;script&gt;`, `{{constructor.constructor("window.hacked=1")()}}`, `__proto__`,
	"[x](javascript:window.hacked=1)", "[x](data:text/html,<script>parent.hacked=1</script>)", "[x]( vbscript:x )", "![x](https://evil.example/x.png)", "[x]: javascript:window.hacked=1\n[x]", "<javascript:window.hacked=1>", "[https://good.example](https://evil.example/)", "[x](https://user:secret@evil.example)", "```js\n", "`", "**", "__", "| a | b |\n|---|---|\n", "> > > > ", "- - - - ", "# ", "1. ", "~~~", "\n\n",
	"\x1b]0;<img src=x onerror=window.hacked=1>\a", "\x1b]8;;javascript:window.hacked=1\a", "\x1b]8;id=x;https://evil.example/\x1b\\", "\x1b]8;;\a", "\x1b]8;;data:text/html,x\a", "\x1b]52;c;aGFja2Vk\a", "\x1b]52;c;?\a", "\x1b]7;file:///<script>\a", "\x1b]9;<b>x</b>\a", "\x1b]777;notify;<b>;<i>\a", "\x1b]1337;File=inline=1;width=99999px:////\a", "\x1bPq#0;2;0;0;0\"1;1;99999;99999#0!99999~\x1b\\", "\x1b_Ga=T,f=100;////\x1b\\", "\x1bP$qm\x1b\\", "\x1b[6n", "\x1b[c", "\x1b[21t", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?2026h", "\x1b[?1000h\x1b[?1006h", "\x1b[200~", "\x1b[201~", "\x1b[9999999b", "\x1b[2147483648C", "\x1b[8;1;1t", "\x1b#8", "\x1b[!p", "\x1bc", "\x1b]", "\x1b[", "\x1bP", "\x9b31m", "\x0e\x0f", "\x07", "\x08\x08", "\r", "\x7f", "\x00",
	"\u202e", "\u2066", "\u200b", "\ufeff", "\u00ad", "e" + strings.Repeat("\u0301", 60), "👩‍👩‍👧‍👦", "\ufffd", "\xff\xfe", "\xed\xa0\x80", "\U000e0041", "ﷺ", strings.Repeat("W", 300), " ", "\n", "x",
}

// TestHostileTexts: of random mixtures, in what terminals print, in their titles, names,
// notifications and links, and in what agents say as Markdown: none becomes an element that
// loads, runs or leads where it does not say, none sets the clipboard or the page's title, the
// policy has nothing to forbid, and the page goes on to work. TANDEMUX_SEED repeats one.
func TestHostileTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time: make browser")
	}
	seed := rand.Uint64()
	if s := os.Getenv("TANDEMUX_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("TANDEMUX_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	mix := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	m := newMachine(t)
	home := filepath.Join(m.dir, "home")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := m.browse()
	b.pair(m.offer())
	b.eval(`navigator.clipboard && (navigator.clipboard.writeText = async (t) => { window.copied = t }), true`)
	harmless := func(when string) {
		t.Helper()
		for what, js := range map[string]string{
			"scripts that ran":       `Number(window.hacked !== undefined)`,
			"elements of markup":     `document.querySelectorAll("img, iframe, object, embed, base, meta[http-equiv], svg, script:not([src]), style, link:not([rel=manifest]):not([rel=icon]):not([rel=stylesheet])").length`,
			"links that lead away":   `[...document.querySelectorAll("a[href], area[href], form[action]")].filter(e => !/^https?:/.test(e.href ?? e.action) || new URL(e.href ?? e.action).username).length`,
			"handlers in markup":     `[...document.querySelectorAll("*")].filter(e => [...e.attributes].some(a => /^on/i.test(a.name))).length`,
			"what the clipboard got": `Number(window.copied !== undefined)`,
			"characters in a title":  `(document.title.match(/[\p{Cc}\p{Cf}<>]/gu) ?? []).length`,
			"what turns text":        `[...document.querySelectorAll(".row, .item, .pane header, .chat")].filter(e => /[\u202a-\u202e\u2066-\u2069]/.test(e.innerText)).length`,
			"pages left":             `Number(location.pathname !== "/web/")`,
		} {
			if got := b.eval(js); got != "0" {
				b.shot("failed-" + t.Name())
				t.Fatalf("%s: %s: %s", when, what, got)
			}
		}
		for _, p := range b.said() {
			if !strings.Contains(p, "xterm.js: Parsing error") { // it says of a sequence that it is none, and goes on
				t.Fatalf("%s: %s", when, p)
			}
		}
	}

	const rounds = 8
	for i := range rounds {
		text := mix(40)
		if i == 0 {
			text = strings.Join(pieces, " ")
		}
		write(fmt.Sprintf("t%d.txt", i), text)
		name := fmt.Sprintf("t%d", i)
		m.must("new", "--background", "--name", name, "--", "sh", "-c", fmt.Sprintf("cat t%d.txt; printf '\\033c\\033[?1049l\\033[0mmarker-%d\\n'; exec cat", i, i))
		t.Logf("round %d: %q", i, text)
		b.click("Terminals")
		b.until("the list", fmt.Sprintf(`[...document.querySelectorAll(".row b")].some(e => e.innerText === %q)`, name))
		b.eval(fmt.Sprintf(`[...document.querySelectorAll(".row")].find(e => e.querySelector("b").innerText === %q).click(), true`, name))
		begun := time.Now()
		b.shows(fmt.Sprintf("marker-%d", i))
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("the page stood still for %s", took)
		}
		harmless("a terminal that printed " + strconv.Quote(text))
		b.eval(`document.querySelector(".places button").click(), true`) // its label has a number when something waits
		harmless("the inbox after " + strconv.Quote(text))
	}

	b.click("Chats")
	b.click("New chat with Fake")
	b.until("the chat", `!!document.querySelector(".chat textarea")`)
	for i := range rounds {
		text := strings.ToValidUTF8(mix(40), "\ufffd")
		if i == 0 {
			text = strings.ToValidUTF8(strings.Join(pieces, " "), "\ufffd")
		}
		write("recite.txt", text)
		b.do(focus(".chat textarea"))
		b.keys("recite\r")
		b.until("what the agent says", fmt.Sprintf(`document.querySelector(".chat").innerText.split("recited").length > %d`, i+1))
		harmless("an agent that said " + strconv.Quote(text))
	}
	// It goes on to work.
	b.click("Terminals")
	b.eval(`[...document.querySelectorAll(".row")].find(e => e.querySelector("b").innerText === "t0").click(), true`)
	b.click("Take")
	b.eval(`[...document.querySelectorAll(".dialog button")].find(e => e.innerText === "Take")?.click(), true`)
	b.until("it is ours", `document.querySelector(".pane .who").innerText === "yours"`)
	b.eval(`document.querySelector(".pane textarea").focus(), true`)
	b.keys("works\r")
	b.shows("works\nworks")
}
