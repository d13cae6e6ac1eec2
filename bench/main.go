package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/sys/unix"
)

// muxes are what can be compared: how each is started, and the keys that split a
// pane, make a window and detach; without keys what needs them is left out.
var muxes = []kind{
	{name: "raw", argv: []string{"bash"}},
	{name: "tmux", argv: []string{"tmux", "-f", "/dev/null", "new-session"}, splits: []string{"\x02\"", "\x02%", "\x02%"}, window: "\x02c"},
	{name: "tandemux", argv: []string{"tandemux"}, splits: []string{"\x00-", "\x00|", "\x00|"}, window: "\x00c", detach: "\x00d"},
}

type kind struct {
	name   string
	argv   []string
	splits []string
	window string
	detach string
}

// cases are run in this order, each with a multiplexer of its own.
var cases = []struct {
	name string
	run  func(b *bench, k kind) error
}{
	{"start", (*bench).start},
	{"echo", (*bench).echo},
	{"throughput", (*bench).throughput},
	{"flood", (*bench).flood},
	{"idle", (*bench).idle},
	{"attach", (*bench).attach},
	{"terminals", (*bench).terminals},
	{"fanout", (*bench).fanout},
}

// bench gathers figures: rows in the order of their first mention, a column for
// each multiplexer.
type bench struct {
	dir      string // for files to print
	tandemux string
	other    string // a tandemux that the same keys are typed into, in turn with the first
	runs     int
	keys     int
	rows     []string
	cells    map[string]map[string]string
}

func (b *bench) note(k kind, row, format string, args ...any) {
	if b.cells[row] == nil {
		b.cells[row] = map[string]string{}
		b.rows = append(b.rows, row)
	}
	b.cells[row][k.name] = fmt.Sprintf(format, args...)
	fmt.Fprintf(os.Stderr, "%s: %s: %s\n", k.name, row, b.cells[row][k.name])
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == echoChild {
		echoKeys()
		return
	}
	which := flag.String("mux", "raw,tmux,tandemux", "what to compare")
	only := flag.String("case", "", "cases to run, all by default: start, echo, throughput, flood, idle, attach, terminals, fanout")
	tandemux := flag.String("tandemux", "bin/tandemux", "the tandemux to measure")
	other := flag.String("other", "", "another tandemux, to compare keys with key by key (case echo)")
	runs := flag.Int("runs", 3, "how often to repeat starts and throughput; the median counts")
	keys := flag.Int("keys", 300, "keys to type for latencies")
	flag.Parse()
	if err := run(strings.Split(*which, ","), *only, *tandemux, *other, *runs, *keys); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(which []string, only, tandemux, other string, runs, keys int) error {
	dir, err := os.MkdirTemp("", "tandemux-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGHUP, unix.SIGINT, unix.SIGTERM)
	go func() {
		<-stop
		starting.Lock()
		end(filepath.Base(dir) + "/")
		os.RemoveAll(dir)
		os.Exit(1)
	}()
	b := &bench{dir: dir, runs: runs, keys: keys, cells: map[string]map[string]string{}}
	if b.tandemux, err = filepath.Abs(tandemux); err != nil {
		return err
	}
	if other != "" {
		if b.other, err = filepath.Abs(other); err != nil {
			return err
		}
	}
	for _, c := range cases {
		if only != "" && !slices.Contains(strings.Split(only, ","), c.name) {
			continue
		}
		for _, k := range muxes {
			if !slices.Contains(which, k.name) {
				continue
			}
			if k.name == "tandemux" {
				k.argv = []string{b.tandemux}
			}
			if _, err := exec.LookPath(k.argv[0]); err != nil {
				fmt.Fprintf(os.Stderr, "%s is not there: %v\n", k.name, err)
				continue
			}
			if err := c.run(b, k); err != nil {
				b.note(k, c.name, "failed: %v", err)
			}
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "120x40, as the outer pty sees it\t%s\n", strings.Join(which, "\t"))
	for _, row := range b.rows {
		fmt.Fprint(w, row)
		for _, name := range which {
			cell := cmp.Or(b.cells[row][name], "–")
			fmt.Fprint(w, "\t", cell)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
