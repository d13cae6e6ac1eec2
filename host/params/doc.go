// Package params reads the params of requests, and words what is wrong with them: values
// in, values out.
package params
