package registry

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

func tryVariables(t *testing.T, w *fixture) {
	w.deploy(acp("a"), "")
	set := func(env string, vars ...store.Variable) error {
		return w.SetVariables(ctx, operator, "a", env, vars)
	}
	if err := set("prod", store.Variable{Name: "PLAIN", Value: "shown"}, store.Variable{Name: "API_KEY", Value: "never-shown", Secret: true}); err != nil {
		t.Fatal(err)
	}
	if err := set("preview", store.Variable{Name: "PLAIN", Value: "other"}); err != nil {
		t.Fatal(err)
	}
	shown := must(w.Variables(ctx, operator, "a", "production"))(t)
	if len(shown) != 2 || shown[0].Name != "API_KEY" || shown[0].Value != Masked || !shown[0].Secret || shown[1].Value != "shown" {
		t.Errorf("listed: %+v", shown)
	}
	if !shown[0].Pending || !shown[1].Pending {
		t.Error("what no version has is not pending")
	}
	if there := must(w.Variables(ctx, operator, "a", "preview"))(t); !there[0].Pending {
		t.Error("where nothing is deployed a variable is not pending")
	}
	d := w.deploy(acp("a"), "")
	for _, v := range must(w.Variables(ctx, operator, "a", "production"))(t) {
		if v.Pending {
			t.Errorf("%s is pending after a deploy", v.Name)
		}
	}
	l := must(w.Launch(ctx, d.Version.ID))(t)
	if !slices.Equal(l.Env, []string{"API_KEY=never-shown", "PLAIN=shown"}) {
		t.Errorf("it runs with %v", l.Env)
	}
	pre := must(w.Launch(ctx, w.deploy(acp("a"), "feature").Version.ID))(t)
	if !slices.Equal(pre.Env, []string{"PLAIN=other"}) {
		t.Errorf("a preview runs with %v", pre.Env)
	}
	if err := w.DeleteVariable(ctx, operator, "a", "prod", "API_KEY"); err != nil {
		t.Fatal(err)
	}
	refused(t, w.DeleteVariable(ctx, operator, "a", "prod", "API_KEY"), 404)
	if l := must(w.Launch(ctx, d.Version.ID))(t); !slices.Contains(l.Env, "API_KEY=never-shown") {
		t.Error("a version lost a variable")
	}
	// Bad ones, of which all or none are set.
	for name, v := range map[string]store.Variable{
		"no name": {}, "digit": {Name: "1A", Value: "x"}, "dash": {Name: "A-B", Value: "x"}, "equals": {Name: "A=B", Value: "x"}, "ours": {Name: "TANDEMUX_TASK", Value: "x"},
		"NUL": {Name: "A", Value: "a\x00b"}, "empty secret": {Name: "A", Secret: true}, "long name": {Name: strings.Repeat("A", 129), Value: "x"},
	} {
		if err := set("prod", store.Variable{Name: "FINE", Value: "1"}, v); err == nil {
			t.Errorf("%s was taken", name)
		} else {
			refused(t, err, 422)
		}
	}
	refused(t, set("prod", store.Variable{Name: "A", Value: strings.Repeat("x", store.MaxValue+1)}), 413)
	for _, v := range must(w.Variables(ctx, operator, "a", "production"))(t) {
		if v.Name == "FINE" {
			t.Error("one of several was set beside a bad one")
		}
	}
	// Who may only read sees names; who may not read sees nothing.
	reader, _ := w.key("reader", "agent:a:viewer")
	must(w.Variables(ctx, reader, "a", "prod"))(t)
	refused(t, w.SetVariables(ctx, reader, "a", "prod", nil), 403)
	sees, _ := w.key("sees", "agent:a:discoverer")
	_, err := w.Variables(ctx, sees, "a", "prod")
	refused(t, err, 403)
	_, err = w.Variables(ctx, access.Principal{Kind: access.Key}, "a", "prod")
	refused(t, err, 404)
}

func TestEnvironmentOfAnAgent(t *testing.T) {
	w := newWorld(t)
	w.env = map[string]string{"HOME_KEY": "from-the-host", "PLAIN": "host", "UNASKED": "no"}
	def := acp("a")
	def.Env = []string{"HOME_KEY", "PLAIN", "NOT_SET"}
	def.Variables = map[string]string{"PLAIN": "definition", "OWN": "definition"}
	w.deploy(def, "")
	if err := w.SetVariables(ctx, operator, "a", "prod", []store.Variable{{Name: "OWN", Value: "environment"}}); err != nil {
		t.Fatal(err)
	}
	l := must(w.Launch(ctx, w.deploy(def, "").Version.ID))(t)
	if want := []string{"HOME_KEY=from-the-host", "OWN=environment", "PLAIN=definition"}; !slices.Equal(l.Env, want) {
		t.Errorf("%v, want %v", l.Env, want)
	}
	if got := l.Masker.Text("the key is from-the-host, plain is definition"); got != "the key is "+Masked+", plain is definition" {
		t.Errorf("masked: %q", got)
	}
}

func TestMasker(t *testing.T) {
	secret := `p@ss "word"/+ä`
	pem := "-----BEGIN KEY-----\nMIIEvQIBADANBgkqh\nkiG9w0BAQEFAASCBK\n-----END KEY-----\n"
	m := NewMasker([]string{secret, "abcd", "abcdefgh", pem, "xyz", ""})
	text, _ := json.Marshal(secret)
	for _, form := range []string{
		secret, string(text), url.QueryEscape(secret), url.PathEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)), "abcd", "abcdefgh",
		"MIIEvQIBADANBgkqh", pem,
	} {
		got := m.Text("before " + form + " after")
		if strings.Contains(got, form) || strings.Contains(got, "efgh") || !strings.Contains(got, Masked) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("%q becomes %q", form, got)
		}
	}
	if got := m.Text("xyz is too short to be told from words"); got != "xyz is too short to be told from words" {
		t.Errorf("%q", got)
	}
	var none *Masker
	if none.Text("a") != "a" || NewMasker(nil).Text("a") != "a" {
		t.Error("nothing to mask changes text")
	}
}

// TestSecretsStayIn looks for a secret in everything that is shown or logged.
func TestSecretsStayIn(t *testing.T) {
	w := newWorld(t)
	secret := "s3cr3t-value-of-a-test"
	w.deploy(acp("a"), "")
	if err := w.SetVariables(ctx, operator, "a", "prod", []store.Variable{{Name: "K", Value: secret, Secret: true}}); err != nil {
		t.Fatal(err)
	}
	d := w.deploy(acp("a"), "")
	l := must(w.Launch(ctx, d.Version.ID))(t)
	if err := w.Log(ctx, l, store.LogEntry{Level: store.Info, Source: "agent", Text: "using " + secret + " now"}); err != nil {
		t.Fatal(err)
	}
	key, made := w.key("k", "agent:*:owner", "project:*:owner")
	show := func(what string, v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, hidden := range []string{secret, made.Secret} {
			if strings.Contains(string(text), hidden) {
				t.Errorf("%s shows a secret: %s", what, text)
			}
		}
	}
	for _, who := range []access.Principal{operator, key} {
		vars, err := w.Variables(ctx, who, "a", "prod")
		show("variables", vars, err)
		versions, _, err := w.Versions(ctx, who, "a", "", store.Page{})
		show("versions", versions, err)
		lines, _, err := w.Logs(ctx, who, store.LogFilter{Agent: "a"})
		show("logs", lines, err)
		envs, err := w.Environments(ctx, who, "a")
		show("environments", envs, err)
	}
	keys, _, err := w.Keys(ctx, operator, store.Page{})
	show("keys", keys, err)
	show("a deploy", d, nil)
	show("a launch's version", l.Version, nil)
}
