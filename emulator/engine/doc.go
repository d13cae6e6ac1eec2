// Package engine makes emulators by name, for whoever lets a user choose one.
//
// It is the only importer of both engines; everybody else holds an
// emulator.Emulator.
package engine
