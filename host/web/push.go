package web

import (
	"net/http"

	"tandemux/host/auth"
	"tandemux/host/front"
	"tandemux/host/push"
)

// tells refuses who is not to be told what waits: guests, and who is no browser.
func (s *Server) tells(w http.ResponseWriter, c front.Caller) (token string, ok bool) {
	token, is := auth.TokenOf(c.Principal)
	switch {
	case s.push == nil:
		http.Error(w, "this host sends nothing to browsers", http.StatusNotFound)
		return "", false
	case !is || len(c.Scopes) == 0:
		http.Error(w, "only a browser that has been let in is told what waits", http.StatusForbidden)
		return "", false
	}
	return token, true
}

// pushKey gives the key that a page subscribes with at its push service.
func (s *Server) pushKey(w http.ResponseWriter, _ *http.Request, c front.Caller) {
	if _, ok := s.tells(w, c); !ok {
		return
	}
	key, err := s.push.Key()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, map[string]string{"key": key})
}

// subscribe notes where a page is told what waits.
func (s *Server) subscribe(w http.ResponseWriter, r *http.Request, c front.Caller) {
	token, ok := s.tells(w, c)
	if !ok {
		return
	}
	var in struct {
		Endpoint string `json:"endpoint"`
		Keys     struct {
			Page string `json:"p256dh"`
			Auth string `json:"auth"`
		} `json:"keys"`
	}
	err := read(r, &in)
	if err == nil {
		err = s.push.Subscribe(push.Subscription{Token: token, Endpoint: in.Endpoint, Page: in.Keys.Page, Auth: in.Keys.Auth})
	}
	if err != nil {
		http.Error(w, "subscribe: "+err.Error(), http.StatusBadRequest)
		return
	}
	write(w, struct{}{})
}

// unsubscribe forgets all that the browser subscribed.
func (s *Server) unsubscribe(w http.ResponseWriter, _ *http.Request, c front.Caller) {
	token, ok := s.tells(w, c)
	if !ok {
		return
	}
	if err := s.push.Unsubscribe(token); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, struct{}{})
}
