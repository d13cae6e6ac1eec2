package access

import "fmt"

// MaxName is the longest name, in bytes.
const MaxName = 40

// CheckName says what is wrong with the name of an agent, project, filesystem,
// key or task: lowercase letters, digits, - and _, beginning with a letter or
// digit (U94).
func CheckName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%s needs a name", what)
	case len(name) > MaxName:
		return fmt.Errorf("the name of %s has %d characters, more than %d", what, len(name), MaxName)
	case name[0] == '-' || name[0] == '_':
		return fmt.Errorf("the name %q of %s does not begin with a letter or digit", name, what)
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return fmt.Errorf("the name %q of %s has other characters than lowercase letters, digits, - and _", name, what)
		}
	}
	return nil
}
