package jsonform

import (
	"errors"

	"tandemux/ahp"
)

// Failure is how an error is told.
type Failure struct {
	Error struct {
		Code    string `json:"code" doc:"For programs: usage, timeout, failed, or a word of who refused it"`
		Message string `json:"message" doc:"For people"`
	} `json:"error"`
}

// words are what the protocol's codes are called, as the interface of tasks calls them.
var words = map[int]string{
	ahp.CodeInvalidParams: "bad_request", ahp.CodeInternal: "internal",
	ahp.CodeSessionNotFound: "not_found", ahp.CodeProviderNotFound: "not_found", ahp.CodeNotFound: "not_found",
	ahp.CodeSessionAlreadyExists: "already_exists", ahp.CodeAlreadyExists: "already_exists",
	ahp.CodeTurnInProgress: "conflict", ahp.CodeConflict: "conflict",
	ahp.CodeUnsupportedVersion: "unsupported_version", ahp.CodeAuthRequired: "unauthorized", ahp.CodePermissionDenied: "forbidden",
}

// Code is the word for an error: its own, or one of the protocol's; "failed" for others.
func Code(err error) string {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) && coded.ErrorCode() != "" {
		return coded.ErrorCode()
	}
	if word := words[ahp.CodeOf(err)]; word != "" {
		return word
	}
	return "failed"
}
