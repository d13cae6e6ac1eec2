// Package questions has what agents from the side ask of people, and give them: a
// terminal of theirs, a yes to a dangerous command or to panes for teammates, and a
// terminal to keep.
//
// A question waits at a terminal, where people see it (TerminalMeta.Ask): the one that it
// is about, or for a command that gets one of its own, one that a person looks at. In a
// chat it is a tool call instead. It ends with the answer, the terminal, the agent's
// connection or its time. All is guarded by the core's lock. What is dangerous, and what
// a yes is good for, host/guard knows.
package questions
