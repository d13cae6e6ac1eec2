package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"tandemux/host/task/store"
)

// chunks are those of a UI message stream, and whether it was ended.
func chunksOf(t *testing.T, text []byte) (all []map[string]any, done bool) {
	t.Helper()
	for frame := range strings.SplitSeq(string(text), "\n\n") {
		data, ok := strings.CutPrefix(frame, "data: ")
		var c map[string]any
		switch {
		case !ok:
		case data == "[DONE]":
			done = true
		case json.Unmarshal([]byte(data), &c) != nil:
			t.Fatalf("no JSON: %s", data)
		default:
			all = append(all, c)
		}
	}
	return all, done
}

// TestChat: the AI SDK's requests are answered with its UI message stream (U48): a message
// is sent, the stream ends when its turn asks, the answer goes on with the turn, and a turn
// that goes on is streamed again from its start.
func TestChat(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("asks", asks)
	w.create("asks", map[string]any{"name": "t"})
	const at = "/tasks/t/chat"
	user := func(text string) map[string]any {
		return map[string]any{"role": "user", "id": "m1", "parts": []any{map[string]any{"type": "text", "text": text}}}
	}
	chat := func(messages ...any) map[string]any {
		return map[string]any{"id": "c", "trigger": "submit-message", "messages": messages}
	}
	w.refused(http.StatusUnprocessableEntity, "there is none", "POST", at, chat())
	w.refused(http.StatusUnprocessableEntity, "has no text", "POST", at, chat(user(" ")))
	w.refused(http.StatusUnprocessableEntity, "neither the user's nor", "POST", at, chat(map[string]any{"role": "system"}))
	w.refused(http.StatusUnprocessableEntity, "takes no files", "POST", at, chat(map[string]any{"role": "user", "parts": []any{map[string]any{"type": "file"}}}))
	w.refused(http.StatusUnprocessableEntity, "can't be taken back", "POST", at, map[string]any{"trigger": "regenerate-message", "messages": []any{user("x")}})
	w.refused(http.StatusUnprocessableEntity, "want one of parts,ui", "GET", "/tasks/t/stream?format=xml", nil)
	if status, _ := w.raw("GET", at+"/c/stream", nil, nil); status != http.StatusNoContent {
		t.Errorf("a task that has done nothing: %d", status)
	}

	kinds := func(text []byte) (words string, by map[string]map[string]any) {
		all, done := chunksOf(t, text)
		if !done {
			t.Errorf("the stream was not ended: %s", text)
		}
		by = map[string]map[string]any{}
		var names []string
		for _, c := range all {
			kind := c["type"].(string)
			names, by[kind] = append(names, kind), c
		}
		return strings.Join(names, " "), by
	}
	const until = "start start-step tool-input-start tool-input-delta tool-input-available data-question tool-approval-request finish-step finish"
	status, text := w.raw("POST", at, chat(user("go")), nil)
	words, by := kinds(text)
	if status != http.StatusOK || words != until || by["finish"]["finishReason"] != "tool-calls" {
		t.Fatalf("%d: %s", status, words)
	}
	approval, call := by["tool-approval-request"]["approvalId"], by["tool-input-available"]["toolCallId"]
	if approval == nil || by["tool-approval-request"]["toolCallId"] != call || by["tool-input-available"]["dynamic"] != true {
		t.Errorf("it asks %v of %v", by["tool-approval-request"], by["tool-input-available"])
	}
	// The page is loaded again: the same once more.
	for _, path := range []string{at + "/c/stream", "/tasks/t/stream?format=ui"} {
		if status, text := w.raw("GET", path, nil, nil); status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		} else if words, _ := kinds(text); words != until {
			t.Errorf("%s gives %s", path, words)
		}
	}

	answer := func(id any) map[string]any {
		part := map[string]any{"type": "dynamic-tool", "toolCallId": call, "state": "approval-responded", "approval": map[string]any{"id": id, "approved": true}}
		return map[string]any{"role": "assistant", "id": "m2", "parts": []any{part}}
	}
	w.refused(http.StatusConflict, "asks nothing that is answered here", "POST", at, chat(user("go"), answer("another")))
	status, text = w.raw("POST", at, chat(user("go"), answer(approval)), nil)
	words, by = kinds(text)
	if want := "data-question-end tool-output-available"; status != http.StatusOK || !strings.HasPrefix(words, want) || !strings.HasSuffix(words, " finish") || !strings.Contains(words, "text-start text-delta") {
		t.Fatalf("%d: %s", status, words)
	}
	if by["finish"]["finishReason"] != "stop" || !strings.Contains(w.said("t"), `"optionId":"once"`) {
		t.Errorf("it ended %v: %s", by["finish"], w.said("t"))
	}
	w.becomes("t", store.Idle)
	w.refused(http.StatusConflict, "asks nothing", "POST", at, chat(answer(approval)))
	_, text = w.raw("GET", "/tasks/t/stream?format=ui", nil, nil)
	if words, _ := kinds(text); !strings.HasPrefix(words, "start ") || strings.Count(words, "finish ") != 0 {
		t.Errorf("the whole turn is %s", words)
	}

	// Another message waits for the turn before it, and is told its own alone.
	w.send("t", "first")
	w.question("t")
	_, q := w.question("t")
	done := make(chan []byte, 1)
	go func() {
		_, text := w.raw("POST", at, chat(user("second")), nil)
		done <- text
	}()
	w.until("the second waits", func() bool {
		var page struct{ Data []store.Event }
		w.must(http.StatusOK, "GET", "/tasks/t/events", nil, &page)
		return len(page.Data) == 3
	})
	w.must(http.StatusCreated, "POST", "/tasks/t/answers", map[string]any{"question_id": q.ID, "answer": "no"}, nil)
	if words, _ := kinds(<-done); words != until {
		t.Errorf("the second gives %s", words)
	}
}
