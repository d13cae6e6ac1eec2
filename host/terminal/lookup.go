package terminal

import (
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/emulator"
)

// Command returns a command and what is kept of its output: the head, the tail and how many
// bytes are missing in between (ahp.CommandResult, in FormatRaw). It is the command with the
// given id, or without an id the back-th newest, counted from 1; with failed set only
// commands with an exit code other than 0 count. ok is false when there is none.
func (t *Terminal) Command(id string, back int, failed bool) (r ahp.CommandResult, ok bool) {
	t.screen.Lock()
	defer t.screen.Unlock()
	cmd := t.cmds.find(id, max(back, 1), failed)
	if cmd == nil {
		return r, false
	}
	head, tail, omitted := cmd.out.Parts()
	return ahp.CommandResult{CommandInfo: cmd.now(), Output: string(head), Omitted: omitted, Tail: string(tail)}, true
}

// CommandFrom returns the actions still pending, as Take does, and the state of a command
// right after them, with its output after the first n bytes. Bytes that are no longer kept
// are counted. ok is false when there is no command of that id.
func (t *Terminal) CommandFrom(id string, n int64) (actions []ahp.Action, k Taken, r ahp.CommandResult, ok bool) {
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("read a command")
	actions, k = t.Take()
	cmd := t.cmds.find(id, 1, false)
	if cmd == nil {
		return actions, k, r, false
	}
	head, tail, omitted := cmd.out.From(n)
	if from, to, whole := t.kept.of(cmd); omitted > 0 && whole {
		head, tail, omitted = t.kept.raw.Append(nil, min(from+int(n), to), to), nil, 0
	}
	return actions, k, ahp.CommandResult{CommandInfo: cmd.now(), Output: string(head), Omitted: omitted, Tail: string(tail)}, true
}

func (c *commands) find(id string, back int, failed bool) *command {
	for i := len(c.list) - 1; i >= 0; i-- {
		cmd := c.list[i]
		switch code := cmd.info.ExitCode; {
		case id != "":
			if cmd.info.ID == id {
				return cmd
			}
		case failed && (code == nil || *code == 0):
		case back == 1:
			return cmd
		default:
			back--
		}
	}
	return nil
}

// now is what is known of a command.
func (c *command) now() ahp.CommandInfo {
	info := c.info
	info.Bytes = c.out.Total
	return info
}

// Commands returns the remembered commands, oldest first, and whether the shell marks
// commands and waits for one.
func (t *Terminal) Commands() ahp.CommandsResult {
	t.screen.Lock()
	defer t.screen.Unlock()
	r := ahp.CommandsResult{Items: make([]ahp.CommandInfo, 0, len(t.cmds.list)), Detection: t.cmds.available, Prompt: t.cmds.ready()}
	for _, cmd := range t.cmds.list {
		r.Items = append(r.Items, cmd.now())
	}
	return r
}

// Running returns the command that runs now; false when none is known to run.
func (t *Terminal) Running() (ahp.CommandInfo, bool) {
	t.screen.Lock()
	defer t.screen.Unlock()
	if t.cmds.running == nil {
		return ahp.CommandInfo{}, false
	}
	return t.cmds.running.now(), true
}

// Keys returns the bytes that type a command line and Enter into the waiting shell, and the
// id that the command will have. line must not have control characters. The error says why
// the shell can't take a command now; after ErrNoPrompt a Ready becomes pending when it can.
func (t *Terminal) Keys(line string) (keys, id string, err error) {
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("type a command")
	if err := t.ready(); err != nil {
		return "", "", err
	}
	if t.emu.Modes().BracketedPaste {
		line = "\x1b[200~" + line + "\x1b[201~"
	}
	return line + "\r", "c" + fmt.Sprint(t.cmds.count+1), nil
}

// Submit types what Keys returned. If the shell does not wait any more, it types nothing
// and returns an error like Keys.
func (t *Terminal) Submit(keys string) error {
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("type a command")
	if err := t.ready(); err != nil {
		return err
	}
	if err := t.input.add(keys, maxInput, true); err != nil {
		return err
	}
	t.cmds.prompt.shows = false
	t.learnt.Store(true)
	t.entered.set(true)
	return nil
}

// ready is the reason why the shell can't take a command now. The caller holds screen.
func (t *Terminal) ready() error {
	c := &t.cmds
	switch {
	case t.exit.known():
		return ErrExited
	case t.cfg.Command != "":
		return fmt.Errorf("it runs %q, not a shell", clip(t.cfg.Command))
	case c.running != nil:
		return fmt.Errorf("%q is running in it", clip(c.running.info.CommandLine))
	case !c.available && t.cfg.Nonce == "":
		return ErrNoDetection
	case !c.ready(), t.unread():
		c.wanted = true
		return ErrNoPrompt
	case t.inputPresent():
		return fmt.Errorf("something is typed at its prompt already")
	}
	return nil
}

// PresentLine returns the actions still pending, as Take does, and right after them the
// text of the cursor's line up to the cursor.
func (t *Terminal) PresentLine() (actions []ahp.Action, k Taken, line string) {
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("read the line")
	actions, k = t.Take()
	cur := t.emu.Cursor()
	top := cur.Y
	for top > 0 && t.emu.Wrapped(top-1) {
		top--
	}
	return actions, k, string(t.between(nil, emulator.Mark{Line: top}, emulator.Mark{Line: cur.Y, Col: cur.X}))
}

// inputPresent reports whether the prompt has text that Enter would execute. If the shell
// does not mark the end of its prompt, it reports whether anything was typed since the
// prompt. The caller holds screen.
func (t *Terminal) inputPresent() bool {
	if t.cmds.prompt.input.ID == 0 {
		return t.line.on.Load()
	}
	if t.typedText() != "" {
		return true
	}
	cur := t.emu.Cursor()
	if cells := t.emu.Line(cur.Y, nil); cur.X < len(cells) {
		return emulator.LineText(cells[cur.X:cur.X+1]) != ""
	}
	return false
}

// clip shortens a command line for a message.
func clip(s string) string {
	const most = 60
	if line, _, more := strings.Cut(s, "\n"); more {
		s = line + " …"
	}
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return s
}
