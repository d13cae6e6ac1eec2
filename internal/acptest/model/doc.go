// Package model is a model without a mind, for running real agents without a
// network: an HTTP handler that answers in the words of three vendors (Anthropic
// Messages, Gemini, OpenAI Responses). To a message it answers with a call of the
// agent's tool for shell commands, to that tool's result with a text that quotes
// it. It knows no more of the protocols than those agents need.
//
// A Model is safe for concurrent use and keeps a list of what it was asked, for
// the report of a run.
package model
