package sandbox

import (
	"encoding/binary"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// address is where a kernel structure is.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// arch is a kind of system calls: its number as seccomp says it, and those of the
// calls that are filtered.
type arch struct {
	audit                             uint32
	ioctl, addKey, requestKey, keyctl uint32
}

// archs are those of the machine: its own first, then what else it runs.
var archs = map[string][]arch{
	"amd64": {
		{unix.AUDIT_ARCH_X86_64, 16, 248, 249, 250},
		{unix.AUDIT_ARCH_I386, 54, 286, 287, 288},
	},
	"arm64": {
		{unix.AUDIT_ARCH_AARCH64, 29, 217, 218, 219},
		{unix.AUDIT_ARCH_ARM, 54, 309, 310, 311},
	},
}

// Offsets in struct seccomp_data; the low half of the second argument, as both
// machines are little-endian.
const (
	offsetCall = 0
	offsetArch = 4
	offsetArg1 = 24
)

// refusals are ioctls that type for the user: into the terminal, or by the console.
var refusals = []uint32{unix.TIOCSTI, tioclinux}

const tioclinux = 0x541c

// filter is a seccomp program, for those machines that archs knows: typing by ioctl
// is not permitted, keyrings (which know no namespace) are not there, nor are calls
// of other kinds. Everything else is the kernel's to decide.
func filter() []byte {
	deny := unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	absent := unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	var all []unix.SockFilter
	load := func(at uint32) {
		all = append(all, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at})
	}
	ret := func(k uint32) { all = append(all, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}) }
	// unless skips so many steps if what was loaded isn't k.
	unless := func(k uint32, skip uint8) {
		all = append(all, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: skip})
	}
	for _, a := range archs[runtime.GOARCH] {
		var body []unix.SockFilter
		outer := all
		all = nil
		load(offsetCall)
		if a.audit == unix.AUDIT_ARCH_X86_64 { // x32 has numbers of its own
			all = append(all, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: 0x40000000, Jf: 1})
			ret(absent)
		}
		for _, call := range []uint32{a.addKey, a.requestKey, a.keyctl} {
			unless(call, 1)
			ret(absent)
		}
		unless(a.ioctl, uint8(1+2*len(refusals)))
		load(offsetArg1)
		for _, r := range refusals {
			unless(r, 1)
			ret(deny)
		}
		ret(unix.SECCOMP_RET_ALLOW)
		body, all = all, outer
		load(offsetArch)
		unless(a.audit, uint8(len(body)))
		all = append(all, body...)
	}
	if len(all) == 0 {
		ret(unix.SECCOMP_RET_ALLOW)
	} else {
		ret(absent)
	}
	out := make([]byte, 0, len(all)*8)
	for _, f := range all {
		out = binary.LittleEndian.AppendUint16(out, f.Code)
		out = append(out, f.Jt, f.Jf)
		out = binary.LittleEndian.AppendUint32(out, f.K)
	}
	return out
}
