// Package annotation has AHP's annotations as values: the comments on files that a
// session's people and agents leave for each other, their state, actions and reducer.
//
// Their channel is "<session>/annotations". All five actions are clients' to dispatch; who
// dispatches chooses the ids. An annotation has at least one entry, which its writers see
// to: the reducer doesn't.
//
// 0.5 anchors an annotation to a turn alone, and writes that as turnId; later versions have
// an origin. Both are read.
package annotation
