package filter

import (
	"encoding/binary"
	"errors"
)

// AppendState appends the state of decoder and filter, as SetState reads it: nothing
// when both are between sequences and runes.
func AppendState(dst []byte, d *Decoder, f *Filter) []byte {
	if d.n == 0 && f.state == ground && !f.torn && !f.gap {
		return dst
	}
	flags := byte(0)
	if f.long {
		flags |= 1
	}
	if f.torn {
		flags |= 2
	}
	if f.gap {
		flags |= 4
	}
	dst = append(dst, byte(f.state), f.kind, flags, f.prefix, f.inter, byte(f.tmux), byte(d.n))
	dst = append(dst, d.held[:d.n]...)
	dst = binary.AppendUvarint(dst, uint64(f.number))
	dst = binary.AppendUvarint(dst, uint64(len(f.held)))
	dst = append(dst, f.held...)
	dst = binary.AppendUvarint(dst, uint64(len(f.begun)))
	return append(dst, f.begun...)
}

var errState = errors.New("the state of the output's stream is damaged")

// SetState reads what AppendState wrote; nothing means at rest.
func SetState(b []byte, d *Decoder, f *Filter) error {
	d.n, *f = 0, Filter{}
	if len(b) == 0 {
		return nil
	}
	if len(b) < 7 || state(b[0]) > passEscape || b[5] > byte(len(tmuxMark)) || int(b[6]) > len(d.held) || len(b) < 7+int(b[6]) {
		return errState
	}
	in := Filter{
		state: state(b[0]), kind: b[1], long: b[2]&1 != 0, torn: b[2]&2 != 0, gap: b[2]&4 != 0, prefix: b[3], inter: b[4], tmux: int(b[5]),
	}
	n := int(b[6])
	held := b[7 : 7+n]
	b = b[7+n:]
	number, size := binary.Uvarint(b)
	if size <= 0 || number > 1<<20 {
		return errState
	}
	in.number = int(number)
	b = b[size:]
	for _, to := range []*[]byte{&in.held, &in.begun} {
		length, size := binary.Uvarint(b)
		if size <= 0 || length > uint64(len(b)-size) || length > maxHeld+maxBegun {
			return errState
		}
		*to = append(*to, b[size:size+int(length)]...)
		b = b[size+int(length):]
	}
	*f = in
	d.n = copy(d.held[:], held)
	return nil
}
