package guest

// Share is a guest's token for one terminal.
type Share struct {
	Token    string `json:"token"` // its id
	Name     string `json:"name"`
	Expires  int64  `json:"expires"` // Unix ms
	ReadOnly bool   `json:"readOnly,omitempty"`
	// Opened says that the guest has come at least once.
	Opened bool `json:"opened,omitempty"`
	// Clients are those that look at the terminal now, by what they call themselves.
	Clients []string `json:"clients,omitempty"`
}
