package main

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// Each vendor's first request is answered with a call of the shell tool, the one
// with its result with a text.
func TestAnswers(t *testing.T) {
	for _, c := range []struct{ path, body, want string }{
		{"/v1/messages", `{"stream":true,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"Read"},{"name":"Bash"}]}`, `"name":"Bash"`},
		{"/v1/messages", `{"stream":true,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"Read"},{"name":"tandemux_run_command"}]}`, `"{\"line\":\"echo x\"}"`},
		{"/v1/messages", `{"messages":[{"role":"user","content":[{"type":"tool_result","content":"out"}]}],"tools":[{"name":"Bash"}]}`, Answer},
		{"/v1/messages", `{"messages":[{"role":"user","content":"title?"}]}`, `"text":"ok"`},
		{"/v1/messages/count_tokens", `{}`, `"input_tokens":10`},
		{"/v1beta/models/m:streamGenerateContent", `{"contents":[{"parts":[]}],"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}]}`, `"functionCall"`},
		{"/v1beta/models/m:generateContent", `{"contents":[{"parts":[{"functionResponse":{}}]}]}`, Answer},
		{"/v1/responses", `{"input":[{"type":"message"}],"tools":[{"name":"shell_command"}]}`, `"function_call"`},
		{"/v1/responses", `{"input":[{"type":"function_call_output","output":"out"}],"tools":[{"name":"shell_command"}]}`, Answer},
	} {
		w := httptest.NewRecorder()
		m := &Model{Command: "echo x"}
		m.ServeHTTP(w, httptest.NewRequest("POST", c.path, strings.NewReader(c.body)))
		if got := w.Body.String(); w.Code != 200 || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %d %s; want %s", c.path, c.body, w.Code, got, c.want)
		}
		if !m.Saw(c.body) || m.Saw("something else") {
			t.Errorf("%s: what was asked is not known", c.path)
		}
		if len(m.Asked()) != 1 {
			t.Errorf("%s: asked %v", c.path, m.Asked())
		}
	}
}
