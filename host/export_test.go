package host

import "time"

// ExpireCheck makes the next connection look at the certificate's files.
func ExpireCheck(c *Certificate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checked = time.Time{}
}
