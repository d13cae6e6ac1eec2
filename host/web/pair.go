package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/front"
	"tandemux/internal/client"
	"tandemux/internal/statefile"
)

// Bounds of offers.
const (
	maxOffers = 8
	maxShares = 64 // that nobody has opened yet
	maxTries  = 20 // wrong secrets, then no offer is left
	// OfferTime is how long an offer holds.
	OfferTime = 10 * time.Minute
	// cookieTime is the longest that browsers keep a cookie.
	cookieTime = 400 * 24 * time.Hour
)

// offer is a secret that a browser may come with once.
type offer struct {
	hash   [sha256.Size]byte
	token  ahp.TokenNewParams
	client *client.Client      // of who made the offer; nil where made is there
	made   *ahp.TokenNewResult // a guest's, which there is before the guest comes
	timer  *time.Timer
	tries  int
}

// close withdraws an offer. The caller holds s.mu.
func (o *offer) close(s *Server) {
	s.offers = slices.DeleteFunc(s.offers, func(other *offer) bool { return other == o })
	o.timer.Stop()
	if o.client != nil {
		go o.client.Close()
	}
}

// connect opens a connection in the caller's name.
func (s *Server) connect(ctx context.Context, c front.Caller) (*client.Client, error) {
	return client.Connect(ctx, client.Options{
		Dial: c.Dial, ClientID: "tandemux-web-" + c.Name() + "-" + rand.Text(),
		Info: ahp.Implementation{Name: "tandemux-web", Version: s.version},
	})
}

// offerRequest is the body of POST /web/offer.
type offerRequest struct {
	Name    string   `json:"name"`
	Scopes  []string `json:"scopes"`  // none: all but files:write
	Expires int64    `json:"expires"` // of the token, Unix ms; 0: never
	// Listen is where to listen from now on; empty: where the host does, or did for
	// browsers.
	Listen string `json:"listen"`
	// Share is a terminal: the browser is a guest's, who sees that alone until Expires. The
	// secret holds as long.
	Share ahp.URI `json:"share"`
}

// OfferResult answers it.
type OfferResult struct {
	Secret  string `json:"secret"`
	Expires int64  `json:"expires"`      // of the secret, Unix ms
	Bundled bool   `json:"bundled"`      // the program has the page
	ID      string `json:"id,omitempty"` // of a guest's token
}

// offer lets a browser in that comes with the secret.
func (s *Server) offer(_ http.ResponseWriter, r *http.Request, c front.Caller) (any, error) {
	var in offerRequest
	if err := read(r, &in); err != nil {
		return nil, err
	}
	cl, err := s.connect(r.Context(), c)
	if err != nil {
		return nil, err
	}
	secret := rand.Text() // 130 bits, in letters that a QR code holds densely
	o := &offer{
		hash: sha256.Sum256([]byte(secret)), client: cl,
		token: ahp.TokenNewParams{Channel: ahp.RootURI, Name: in.Name, Scopes: in.Scopes, Expires: in.Expires, Terminal: in.Share, Share: in.Share != ""},
	}
	result := OfferResult{Secret: secret, Expires: time.Now().Add(OfferTime).UnixMilli(), Bundled: Bundled()}
	if in.Share != "" {
		o.made = &ahp.TokenNewResult{}
		if err := cl.Call(r.Context(), ahp.MethodTokenNew, o.token, o.made); err != nil {
			cl.Close()
			return nil, err
		}
		result.ID, result.Expires = o.made.ID, in.Expires
	}
	if err := s.add(o, in.Listen, time.Until(time.UnixMilli(result.Expires))); err != nil {
		if o.made != nil {
			cl.Call(r.Context(), ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, ID: o.made.ID}, nil) //nolint:errcheck // the first error counts
		}
		cl.Close()
		return nil, err
	}
	if o.made != nil {
		cl.Close()
	}
	return result, nil
}

// add turns the page on, with an offer that holds for some time.
func (s *Server) add(o *offer, listen string, holds time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.kept
	if listen != "" && listen != s.kept.Listen || s.stop == nil && s.kept.Listen != "" {
		listen = cmp.Or(listen, s.kept.Listen)
		if err := s.reach(listen); err != nil {
			return err
		}
	}
	if !s.on || before.Listen != s.kept.Listen {
		if err := statefile.WriteJSON(s.path, s.kept); err != nil {
			return err
		}
	}
	s.on = true
	most, guests := maxOffers, o.made != nil
	if guests {
		most = maxShares
		o.client = nil
		s.noted(o.made.ID)
	}
	like := slices.DeleteFunc(slices.Clone(s.offers), func(other *offer) bool { return (other.made != nil) != guests })
	if len(like) == most {
		like[0].close(s)
	}
	s.offers = append(s.offers, o)
	o.timer = time.AfterFunc(holds, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		o.close(s)
	})
	return nil
}

// take gives the offer of a secret, which is withdrawn with it; nil where there is none.
// All are compared, in constant time.
func (s *Server) take(secret string) *offer {
	hash := sha256.Sum256([]byte(secret))
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *offer
	for _, o := range s.offers {
		if subtle.ConstantTimeCompare(o.hash[:], hash[:]) == 1 {
			found = o
		}
	}
	if found != nil {
		found.timer.Stop()
		s.offers = slices.DeleteFunc(s.offers, func(o *offer) bool { return o == found })
		return found
	}
	for _, o := range slices.Clone(s.offers) {
		if o.made != nil { // it holds for long: who guesses, which is hopeless, is not to end it
			continue
		}
		if o.tries++; o.tries >= maxTries {
			s.log.Warn("an offer to a browser was withdrawn: too many came with a wrong secret")
			o.close(s)
		}
	}
	return nil
}

// PairResult answers POST /web/pair.
type PairResult struct {
	Key   string `json:"key"`             // of the page: front.PageKey
	ID    string `json:"id"`              // of the token
	Guest bool   `json:"guest,omitempty"` // it is one's, for one terminal
}

// pair exchanges an offer's secret for a token in a cookie.
func (s *Server) pair(w http.ResponseWriter, r *http.Request, _ front.Caller) (any, error) {
	if r.Header.Get("Origin") == "" { // browsers say it, and the front has compared it
		return nil, errForbidden.Errorf("only the page pairs a browser")
	}
	var in struct {
		Secret string `json:"secret"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	o := s.take(in.Secret)
	if o == nil {
		return nil, secretError{"wrong secret for a browser", "This link was used already, has ended, or is not one of this host's: `tandemux web`, or who sent it, has a new one."}
	}
	name := front.PageCookie(r)
	var token ahp.TokenNewResult
	if o.made != nil {
		token = *o.made
		name += "-" + token.ID // beside that of a browser which has been let in itself
	} else {
		defer o.client.Close()
		if err := o.client.Call(r.Context(), ahp.MethodTokenNew, o.token, &token); err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.noted(token.ID)
		s.mu.Unlock()
	}
	return s.let(w, r, name, token, o.made != nil), nil
}

// let gives a browser its token, in a cookie, and the page's key.
func (s *Server) let(w http.ResponseWriter, r *http.Request, name string, token ahp.TokenNewResult, guest bool) PairResult {
	last := cookieTime
	if token.Expires != 0 {
		last = min(last, time.Until(time.UnixMilli(token.Expires)))
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: token.Token, Path: "/", MaxAge: int(last / time.Second),
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	return PairResult{Key: front.PageKey(token.Token), ID: token.ID, Guest: guest}
}
