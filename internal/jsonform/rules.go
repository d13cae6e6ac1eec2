package jsonform

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"tandemux/internal/fileuri"
)

// instants are what times are called that are milliseconds since 1970 elsewhere, and
// here.
var instants = map[string]string{
	"at": "at", "timestamp": "timestamp", "created": "createdAt", "expires": "expiresAt", "lastUsed": "lastUsedAt", "started": "startedAt",
}

// directories are members that hold a directory, or several.
var directories = map[string]bool{
	"cwd": true, "directory": true, "workingDirectories": true, "workingDirectory": true, "defaultDirectory": true, "oldDirectory": true, "newDirectory": true,
}

// instant is how a time is written.
const instant = "2006-01-02T15:04:05.000Z"

// pattern is what instant looks like.
const pattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`

// plain is a member's name without a prefix, in camelCase.
func plain(name string) string {
	words := strings.Split(strings.TrimPrefix(name[strings.LastIndexByte(name, '/')+1:], "_"), "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// member is what a member is called that has one of some schemas.
func member(name string, as []*jsonschema.Schema) string {
	name = plain(name)
	for _, s := range as {
		switch {
		case is(s, "integer") && name == "duration":
			return "durationMs"
		case instants[name] != "" && (is(s, "integer") || s.Format == "date-time"):
			return instants[name]
		}
	}
	return name
}

func is(s *jsonschema.Schema, kind string) bool {
	return s.Type == kind || len(s.Types) == 2 && s.Types[0] == "null" && s.Types[1] == kind
}

// number is a number of a member: a time, or what it was.
func number(name, text string) (string, bool) {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || instants[plain(name)] == "" {
		return "", false
	}
	return time.UnixMilli(ms).UTC().Format(instant), true
}

// text is a text of a member.
func text(name, s string, as []*jsonschema.Schema) string {
	if directories[name] && strings.HasPrefix(s, "file://") {
		return fileuri.Path(s)
	}
	for _, a := range as {
		if a.Format == "date-time" {
			if t, err := time.Parse(time.RFC3339, s); err == nil {
				return t.UTC().Format(instant)
			}
		}
	}
	return s
}
