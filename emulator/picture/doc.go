// Package picture reads and writes the pixels of pictures: it tells a picture's format
// and size, decodes what programs send (raw pixels, PNG, JPEG, GIF, sixel), scales it,
// and encodes it for terminals that take sixel.
//
// Everything is a pure function of its arguments. Package native only asks for sizes,
// which never takes more than a look at each byte; ui/paint decodes what it draws. What
// is decoded is bounded by MaxPixels before memory is taken, and the work of painting
// a sixel by a few times that.
//
// A GIF's frames become steps of kitty's protocol (Motion); nothing is timed here.
//
// It does not place pictures, keep them or choose how they are drawn.
package picture
