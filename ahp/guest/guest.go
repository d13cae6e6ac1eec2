package guest

// Share is a guest's token for one terminal.
type Share struct {
	Token    string `json:"token"` // the token's id
	Name     string `json:"name"`
	Expires  int64  `json:"expires"` // Unix ms
	ReadOnly bool   `json:"readOnly,omitempty"`
	// Opened says that the guest has connected at least once.
	Opened bool `json:"opened,omitempty"`
	// Clients are the names of the guest's clients that are connected now.
	Clients []string `json:"clients,omitempty"`
}
