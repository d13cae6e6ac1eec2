// Package words puts what agents say into AHP's words, and what people answer into the
// agents': values in, values out.
package words
