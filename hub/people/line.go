package people

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"tandemux/host/auth"
	"tandemux/hub/front"
)

// Bounds of command lines that sign in.
const (
	lineTime = 10 * time.Minute
	maxLines = 256
	waitTime = 25 * time.Second // of one request for the answer
)

// letters are those of codes: no vowels, so no words, and none that look like another.
const letters = "BCDFGHJKLMNPQRSTVWXZ"

// line is a command line that waits for its person.
type line struct {
	device string // the hash of what only the command line knows
	until  time.Time
	told   chan struct{} // closed with the answer
	who    *session      // nil: it was refused
}

// lines are all of them, by the code that people see.
type lines struct {
	mu  sync.Mutex
	all map[string]*line
}

// tidy forgets those that are over. The caller holds mu.
func (l *lines) tidy(now time.Time) {
	for code, one := range l.all {
		if !now.Before(one.until) {
			delete(l.all, code)
		}
	}
}

// Started is the answer to a command line that begins to sign in.
type Started struct {
	Device  string `json:"device_code"`
	Code    string `json:"user_code"`
	URL     string `json:"verification_uri"`
	Whole   string `json:"verification_uri_complete"`
	Expires int    `json:"expires_in"`
}

// Token is a command line's session.
type Token struct {
	Token  string    `json:"token"`
	Name   string    `json:"name"`
	Until  time.Time `json:"expires_at"`
	Scopes []string  `json:"scopes"`
}

func newCode() string {
	var b strings.Builder
	for b.Len() < 9 {
		if b.Len() == 4 {
			b.WriteByte('-')
		}
		var r [1]byte
		rand.Read(r[:]) //nolint:errcheck // never fails
		if int(r[0]) < 256/len(letters)*len(letters) {
			b.WriteByte(letters[int(r[0])%len(letters)])
		}
	}
	return b.String()
}

// startLine begins a command line's sign-in.
func (d *Desk) startLine(w http.ResponseWriter, _ *http.Request) {
	device := newSecret()
	d.lines.mu.Lock()
	defer d.lines.mu.Unlock()
	d.lines.tidy(d.now())
	if len(d.lines.all) >= maxLines {
		front.Refuse(w, http.StatusServiceUnavailable, "busy", "too many command lines sign in at once: try again in a few minutes")
		return
	}
	code := newCode()
	for d.lines.all[code] != nil {
		code = newCode()
	}
	d.lines.all[code] = &line{device: auth.Hash(device), until: d.now().Add(lineTime), told: make(chan struct{})}
	at := d.c.URL + "/auth/device"
	front.Answer(w, Started{device, code, at, at + "?code=" + url.QueryEscape(code), int(lineTime / time.Second)}, nil)
}

// awaitLine gives a command line its session, once; 202 says that there is no answer yet.
func (d *Desk) awaitLine(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Device string `json:"device_code"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		front.Refuse(w, http.StatusBadRequest, "bad_request", "the body is JSON with a device_code")
		return
	}
	device := auth.Hash(asked.Device)
	var l *line
	code := ""
	d.lines.mu.Lock()
	d.lines.tidy(d.now())
	for c, one := range d.lines.all {
		if hmac.Equal([]byte(one.device), []byte(device)) {
			l, code = one, c
		}
	}
	d.lines.mu.Unlock()
	if l == nil {
		front.Refuse(w, http.StatusGone, "expired", "the code is over: begin again")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), waitTime)
	defer cancel()
	select {
	case <-l.told:
	case <-ctx.Done():
		w.WriteHeader(http.StatusAccepted)
		return
	}
	d.lines.mu.Lock()
	first := d.lines.all[code] == l
	delete(d.lines.all, code)
	d.lines.mu.Unlock()
	switch {
	case !first:
		front.Refuse(w, http.StatusGone, "expired", "the session was given already: begin again")
		return
	case l.who == nil:
		front.Refuse(w, http.StatusForbidden, "denied", "the person said no")
		return
	}
	s := *l.who
	s.Line = true
	secret, err := d.begin(r.Context(), s)
	if err != nil {
		front.Refuse(w, http.StatusServiceUnavailable, "unavailable", "the hub can't keep the session now")
		return
	}
	d.note(s.Name, "sign in on a command line", "done", r)
	front.Answer(w, Token{secret, s.Name, d.now().Add(d.c.life()), append([]string{}, d.c.Scopes(s.Name, s.Groups)...)}, nil)
}

// seen says that a form was shown in this session: no other page has it.
func (d *Desk) seen(secret, code string) string {
	sum := sha256.Sum256([]byte("form\x00" + secret + "\x00" + code))
	return hex.EncodeToString(sum[:])
}

func (d *Desk) browser(r *http.Request) (secret string, s session, err error) {
	c, err := r.Cookie(d.cookieName(sessionCookie))
	if err != nil {
		return "", s, errSession
	}
	s, err = d.find(r.Context(), c.Value)
	if err == nil && s.Line {
		err = errSession
	}
	return c.Value, s, err
}

func cleanCode(code string) string {
	code = strings.ToUpper(strings.TrimSpace(code))
	if len(code) == 8 {
		code = code[:4] + "-" + code[4:]
	}
	return code
}

// showLine asks a person whether a command line is theirs, after they have signed in.
func (d *Desk) showLine(w http.ResponseWriter, r *http.Request) {
	code := cleanCode(r.FormValue("code"))
	secret, s, err := d.browser(r)
	if err != nil {
		http.Redirect(w, r, "/auth/login?to="+url.QueryEscape("/auth/device?code="+url.QueryEscape(code)), http.StatusFound)
		return
	}
	if code == "" {
		page(w, http.StatusOK, view{Title: "Sign in on a command line", Text: "Type the code that it shows.", Enter: true})
		return
	}
	d.lines.mu.Lock()
	d.lines.tidy(d.now())
	_, there := d.lines.all[code]
	d.lines.mu.Unlock()
	if !there {
		page(w, http.StatusNotFound, view{Title: "No such code", Text: "Codes last ten minutes: begin again on the command line.", Enter: true})
		return
	}
	page(w, http.StatusOK, view{
		Title: "Sign in on a command line", Code: code, Form: d.seen(secret, code),
		Text: "A command line wants to act as " + s.Name + ". Allow it only if you began this yourself just now and it shows this code:",
	})
}

// answerLine is the person's yes or no.
func (d *Desk) answerLine(w http.ResponseWriter, r *http.Request) {
	code := cleanCode(r.PostFormValue("code"))
	secret, s, err := d.browser(r)
	if err != nil || !hmac.Equal([]byte(r.PostFormValue("form")), []byte(d.seen(secret, code))) {
		page(w, http.StatusForbidden, view{Title: "Not allowed", Text: "That did not come from the hub's own page."})
		return
	}
	yes := r.PostFormValue("answer") == "yes"
	d.lines.mu.Lock()
	l := d.lines.all[code]
	done := l != nil && d.now().Before(l.until)
	if done {
		select {
		case <-l.told: // it was answered before
			done = false
		default:
			if yes {
				l.who = &session{Name: s.Name, Groups: s.Groups}
			}
			close(l.told)
		}
	}
	d.lines.mu.Unlock()
	switch {
	case !done:
		page(w, http.StatusNotFound, view{Title: "No such code", Text: "It is over or was answered already: begin again on the command line."})
	case yes:
		page(w, http.StatusOK, view{Title: "Signed in", Text: "The command line acts as " + s.Name + " now. You can close this page."})
	default:
		d.note(s.Name, "sign in on a command line", "refused", r)
		page(w, http.StatusOK, view{Title: "Refused", Text: "The command line got nothing. You can close this page."})
	}
}
