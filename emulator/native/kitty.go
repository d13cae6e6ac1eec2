package native

// maxKitty bounds the keyboard stack; the oldest entry goes when it is full, as
// the protocol says.
const maxKitty = 16

// kittyAll are the flags of the kitty keyboard protocol.
const kittyAll = 31

// kittyStack is the kitty keyboard protocol's stack of flags; each screen has
// one.
type kittyStack struct {
	stack [maxKitty]uint8
	n     int
}

func (k *kittyStack) flags() int {
	if k.n == 0 {
		return 0
	}
	return int(k.stack[k.n-1])
}

func (k *kittyStack) push(flags int) {
	if k.n == maxKitty {
		copy(k.stack[:], k.stack[1:])
		k.n--
	}
	k.stack[k.n] = uint8(flags & kittyAll)
	k.n++
}

func (k *kittyStack) pop(n int) { k.n = max(0, k.n-n) }

// set changes the flags now in force: 1 replaces, 2 adds, 3 removes.
func (k *kittyStack) set(flags, how int) {
	flags &= kittyAll
	switch now := k.flags(); how {
	case 2:
		flags |= now
	case 3:
		flags = now &^ flags
	}
	if k.n == 0 {
		k.n = 1
	}
	k.stack[k.n-1] = uint8(flags)
}
