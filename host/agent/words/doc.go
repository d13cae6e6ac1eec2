// Package words converts what agents say to AHP's types, and people's answers to the agents'. All
// functions are pure.
package words
