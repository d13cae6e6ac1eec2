package terminal

import "fmt"

// Panic is what Config.Failed is told of a panic.
type Panic struct {
	// Doing is what the terminal was about, such as "process output".
	Doing string
	// Value is what was panicked with, and Stack the goroutine's.
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("%s: panic: %v", p.Doing, p.Value) }
