// Package turns is what a task's turn says of itself: the text that it begins with, what was
// said in it, and how it ended. Values in, values out; it keeps nothing and asks nobody.
package turns
