// Package smalldisk gives tests a disk that can be full: a tmpfs of their own, for root
// or, where the system lets them, for anybody, in a user namespace. It is for tests only
// and keeps nothing.
package smalldisk
