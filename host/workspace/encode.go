package workspace

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
)

// decoder reads what the append functions wrote; the first thing wrong stays its err,
// and everything after is zero.
type decoder struct {
	rest []byte
	err  error
}

var errShort = errors.New("cut off or not what it should be")

func (d *decoder) fail() {
	if d.err == nil {
		d.err = errShort
	}
	d.rest = nil
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count is a number of things that take at least so many bytes each.
func (d *decoder) count(each int) int {
	n := d.uint()
	if n > uint64(len(d.rest)/each) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) bytes(b []byte) {
	if len(d.rest) < len(b) {
		d.fail()
		return
	}
	d.rest = d.rest[copy(b, d.rest):]
}

func (d *decoder) text(most int) string {
	n := d.uint()
	if n > uint64(most) || n > uint64(len(d.rest)) {
		d.fail()
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

const manifestMagic = "cotty manifest 1\n"

// newManifest makes one of entries that are sorted; it keeps the slice.
func newManifest(entries []Entry) *Manifest {
	m := &Manifest{entries: entries}
	h := sha256.New()
	b := make([]byte, 0, 512)
	for i := range entries {
		e := &entries[i]
		b = appendText(b[:0], e.Path)
		b = binary.AppendUvarint(b, uint64(e.Mode))
		b = binary.AppendVarint(b, e.Size)
		b = append(b, e.Sum[:]...)
		h.Write(b)
		m.bytes += e.Size
	}
	var sum Digest
	h.Sum(sum[:0])
	m.version = sum.String()
	return m
}

// encode gives the manifest's file, with the answers that go with it.
func (m *Manifest) encode(answers []answer) []byte {
	b := make([]byte, 0, 256+len(m.entries)*120)
	b = append(b, manifestMagic...)
	b = appendText(b, m.version)
	b = binary.BigEndian.AppendUint64(b, uint64(m.bytes))
	b = binary.AppendUvarint(b, uint64(len(m.entries)))
	for i := range m.entries {
		e := &m.entries[i]
		b = appendText(b, e.Path)
		b = binary.AppendUvarint(b, uint64(e.Mode))
		b = binary.AppendVarint(b, e.Size)
		b = binary.AppendVarint(b, e.Modified)
		b = append(b, e.Sum[:]...)
		b = binary.AppendUvarint(b, e.at.pack)
		b = binary.AppendVarint(b, e.at.offset)
	}
	b = binary.AppendUvarint(b, uint64(len(answers)))
	for i := range answers {
		b = answers[i].append(b)
	}
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// decodeManifest reads what encode wrote.
func decodeManifest(b []byte) (*Manifest, []answer, error) {
	if len(b) < len(manifestMagic)+4 || string(b[:len(manifestMagic)]) != manifestMagic {
		return nil, nil, failf(ErrDamaged, "the manifest is not one")
	}
	body, end := b[:len(b)-4], b[len(b)-4:]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(end) {
		return nil, nil, failf(ErrDamaged, "the manifest's checksum is wrong")
	}
	d := &decoder{rest: body[len(manifestMagic):]}
	m := &Manifest{version: d.text(64)}
	var bytes [8]byte
	d.bytes(bytes[:])
	n := d.count(39)
	m.entries = make([]Entry, n)
	for i := range m.entries {
		e := &m.entries[i]
		e.Path = d.text(maxPath)
		e.Mode = fs.FileMode(d.uint())
		e.Size, e.Modified = d.int(), d.int()
		d.bytes(e.Sum[:])
		e.at.pack, e.at.offset = d.uint(), d.int()
		if e.Path == "" || e.Size < 0 || e.at.offset < 0 {
			d.fail()
		}
		m.bytes += e.Size
	}
	answers := make([]answer, d.count(4))
	for i := range answers {
		answers[i].read(d)
	}
	if d.err != nil {
		return nil, nil, failf(ErrDamaged, "the manifest is %v", d.err)
	}
	return m, answers, nil
}
