package terminal

import (
	"encoding/binary"
	"errors"
)

// rests reports that the filter is between sequences.
func (f *filter) rests() bool { return f.state == ground && !f.torn && !f.gap }

// appendStream appends the state of decoder and filter, as setStream reads it.
func appendStream(dst []byte, d *decoder, f *filter) []byte {
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

var errStream = errors.New("the state of the output's stream is damaged")

// setStream reads what appendStream wrote; nothing means at rest.
func setStream(b []byte, d *decoder, f *filter) error {
	d.n, *f = 0, filter{}
	if len(b) == 0 {
		return nil
	}
	if len(b) < 7 || filterState(b[0]) > passEscape || b[5] > byte(len(tmuxMark)) || int(b[6]) > len(d.held) || len(b) < 7+int(b[6]) {
		return errStream
	}
	in := filter{
		state: filterState(b[0]), kind: b[1], long: b[2]&1 != 0, torn: b[2]&2 != 0, gap: b[2]&4 != 0, prefix: b[3], inter: b[4], tmux: int(b[5]),
	}
	n := int(b[6])
	held := b[7 : 7+n]
	b = b[7+n:]
	number, size := binary.Uvarint(b)
	if size <= 0 || number > 1<<20 {
		return errStream
	}
	in.number = int(number)
	b = b[size:]
	for _, to := range []*[]byte{&in.held, &in.begun} {
		length, size := binary.Uvarint(b)
		if size <= 0 || length > uint64(len(b)-size) || length > maxHeld+maxBegun {
			return errStream
		}
		*to = append(*to, b[size:size+int(length)]...)
		b = b[size+int(length):]
	}
	*f = in
	d.n = copy(d.held[:], held)
	return nil
}
