// Package page says where sessions stand in their list, the last modified first, and how a
// client names such a place to go on from there. All are values.
package page
