package sandbox

import (
	"encoding/binary"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// address returns the address of a kernel structure.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// arch is an architecture of system calls: its number in seccomp, and what is refused of it.
type arch struct {
	audit uint32
	rules []rule
}

// rule refuses a system call with an error: always, or if the low half of an argument is a value or
// has one of its bits.
type rule struct {
	call    uint32
	refusal unix.Errno
	arg     uint32 // the argument's offset; 0 means always
	code    uint16 // unix.BPF_JEQ or unix.BPF_JSET
	value   uint32
}

// Offsets in struct seccomp_data; those of arguments' low halves, because the machines are
// little-endian.
const (
	offsetCall = 0
	offsetArch = 4
	offsetArg0 = 16
	offsetArg1 = 24
)

const tioclinux = 0x541c

// rulesFor returns the rules of an architecture with its numbers of calls. Keyrings have no
// namespaces. In a new user namespace a process has all capabilities, which makes more of the kernel
// reachable; clone3 hides its flags, and libraries use clone if it is absent. io_uring does what a
// filter refuses. TIOCSTI and TIOCLINUX type for the user. A process that traces process 1 or writes
// into it keeps the sandbox's end from being noticed.
func rulesFor(ioctl, addKey, requestKey, keyctl, clone, unshare, ptrace, writev uint32) []rule {
	const clone3, ioUring = 435, 425
	return []rule{
		{addKey, unix.ENOSYS, 0, 0, 0},
		{requestKey, unix.ENOSYS, 0, 0, 0},
		{keyctl, unix.ENOSYS, 0, 0, 0},
		{ioUring, unix.ENOSYS, 0, 0, 0},
		{clone3, unix.ENOSYS, 0, 0, 0},
		{clone, unix.EPERM, offsetArg0, unix.BPF_JSET, unix.CLONE_NEWUSER},
		{unshare, unix.EPERM, offsetArg0, unix.BPF_JSET, unix.CLONE_NEWUSER},
		{ptrace, unix.EPERM, offsetArg1, unix.BPF_JEQ, 1},
		{writev, unix.EPERM, offsetArg0, unix.BPF_JEQ, 1},
		{ioctl, unix.EPERM, offsetArg1, unix.BPF_JEQ, unix.TIOCSTI},
		{ioctl, unix.EPERM, offsetArg1, unix.BPF_JEQ, tioclinux},
	}
}

// archs has the architectures of a machine: its own first, then others that it runs.
var archs = map[string][]arch{
	"amd64": {
		{unix.AUDIT_ARCH_X86_64, rulesFor(16, 248, 249, 250, 56, 272, 101, 311)},
		{unix.AUDIT_ARCH_I386, rulesFor(54, 286, 287, 288, 120, 310, 26, 348)},
	},
	"arm64": {
		{unix.AUDIT_ARCH_AARCH64, rulesFor(29, 217, 218, 219, 220, 97, 117, 271)},
		{unix.AUDIT_ARCH_ARM, rulesFor(54, 309, 310, 311, 120, 337, 26, 377)},
	},
}

// filter returns a seccomp program for the machines in archs. It applies their rules, and refuses
// calls of other architectures as absent. All other calls are left to the kernel.
func filter() []byte {
	refuse := func(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	ret := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	// unless skips so many steps if what was loaded does not match k.
	unless := func(code uint16, k uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | code | unix.BPF_K, K: k, Jf: skip}
	}
	var all []unix.SockFilter
	for _, a := range archs[runtime.GOARCH] {
		var body []unix.SockFilter
		if a.audit == unix.AUDIT_ARCH_X86_64 { // x32 has its own numbers
			body = append(body, load(offsetCall), unless(unix.BPF_JGE, 0x40000000, 1), ret(refuse(unix.ENOSYS)))
		}
		for _, r := range a.rules {
			step := []unix.SockFilter{ret(refuse(r.refusal))}
			if r.arg != 0 {
				step = []unix.SockFilter{load(r.arg), unless(r.code, r.value, 1), step[0]}
			}
			body = append(body, load(offsetCall), unless(unix.BPF_JEQ, r.call, uint8(len(step))))
			body = append(body, step...)
		}
		body = append(body, ret(unix.SECCOMP_RET_ALLOW))
		all = append(all, load(offsetArch), unless(unix.BPF_JEQ, a.audit, uint8(len(body))))
		all = append(all, body...)
	}
	if len(all) == 0 {
		all = append(all, ret(unix.SECCOMP_RET_ALLOW))
	} else {
		all = append(all, ret(refuse(unix.ENOSYS)))
	}
	out := make([]byte, 0, len(all)*8)
	for _, f := range all {
		out = binary.LittleEndian.AppendUint16(out, f.Code)
		out = append(out, f.Jt, f.Jf)
		out = binary.LittleEndian.AppendUint32(out, f.K)
	}
	return out
}
