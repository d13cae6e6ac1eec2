//go:build linux && cgo

package main

/*
#include <sys/resource.h>
#include <unistd.h>

// Go's runtime reserves more than half a gibibyte of addresses before any Go of ours runs,
// and more with the first threads; where it can't, it prints its own stack. With 1.5 GiB a
// host starts and works.
__attribute__((constructor)) static void enough_space(void) {
	static const char said[] = "tandemux: the limit of address space is below 1.5 GiB, which it needs: raise it with `ulimit -v unlimited`\n";
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < (1536UL << 20)) {
		_exit(write(2, said, sizeof said - 1) > 0 ? 1 : 2);
	}
}
*/
import "C"
