package ahp

// MethodColors is a notification from client to host: what colours the client's
// own screen shows. The host tells them to programs that ask, in the terminals
// that the client holds.
const MethodColors = "x-tandemux/colors"

// ColorsParams is its params. A colour is "#rrggbb", or "" where it is unknown.
type ColorsParams struct {
	Channel URI      `json:"channel"`
	FG      string   `json:"fg"`
	BG      string   `json:"bg"`
	Cursor  string   `json:"cursor"`
	Palette []string `json:"palette"` // the basic colours, 16 at most
	// Pictures: the screen shows pictures of the kitty graphics protocol.
	Pictures bool `json:"pictures,omitempty"`
}
