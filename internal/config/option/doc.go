// Package option is what the owner of a setting tells of it: its name, default,
// range and documentation, and where its value is kept. Reading a file of them is
// package config's. It is data; an Option is its owner's, and its Check may look at
// what other options of that owner hold.
package option
