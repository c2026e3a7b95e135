package gppl

import "reflect"

// kindOf returns the name of a kernel's type, such as "SE".
func kindOf(k Kernel) string {
	t := reflect.TypeOf(k)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}
