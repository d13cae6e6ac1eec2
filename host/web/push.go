package web

import (
	"net/http"

	"tandemux/host/auth"
	"tandemux/host/front"
	"tandemux/host/push"
)

// tells refuses who is not to be told what waits: guests, and who is no browser.
func (s *Server) tells(c front.Caller) (token string, err error) {
	token, is := auth.TokenOf(c.Principal)
	switch {
	case s.push == nil:
		return "", errNotFound.Errorf("this host sends nothing to browsers")
	case !is || len(c.Scopes) == 0:
		return "", errForbidden.Errorf("only a browser that has been let in is told what waits")
	}
	return token, nil
}

// pushKey gives the key that a page subscribes with at its push service.
func (s *Server) pushKey(_ http.ResponseWriter, _ *http.Request, c front.Caller) (any, error) {
	if _, err := s.tells(c); err != nil {
		return nil, err
	}
	key, err := s.push.Key()
	if err != nil {
		return nil, errInternal.Errorf("%w", err)
	}
	return map[string]string{"key": key}, nil
}

// subscribe notes where a page is told what waits.
func (s *Server) subscribe(_ http.ResponseWriter, r *http.Request, c front.Caller) (any, error) {
	token, err := s.tells(c)
	if err != nil {
		return nil, err
	}
	var in struct {
		Endpoint string `json:"endpoint"`
		Keys     struct {
			Page string `json:"p256dh"`
			Auth string `json:"auth"`
		} `json:"keys"`
	}
	if err = read(r, &in); err == nil {
		err = s.push.Subscribe(push.Subscription{Token: token, Endpoint: in.Endpoint, Page: in.Keys.Page, Auth: in.Keys.Auth})
	}
	if err != nil {
		return nil, errBad.Errorf("subscribe: %w", err)
	}
	return struct{}{}, nil
}

// unsubscribe forgets all that the browser subscribed.
func (s *Server) unsubscribe(_ http.ResponseWriter, _ *http.Request, c front.Caller) (any, error) {
	token, err := s.tells(c)
	if err != nil {
		return nil, err
	}
	if err := s.push.Unsubscribe(token); err != nil {
		return nil, errInternal.Errorf("%w", err)
	}
	return struct{}{}, nil
}
