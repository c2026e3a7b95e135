package dataset

import "os"

// StandardInput is the path of standard input wherever a csv file is read. It can be read once. The path of a file with this name
// is "./-".
const StandardInput = "-"

// Shown returns the name of a path in messages: "standard input" for StandardInput, and others as they are.
func Shown(path string) string {
	if path == StandardInput {
		return "standard input"
	}
	return path
}

// Input is a file that is read, or standard input, which Close leaves open.
type Input struct{ *os.File }

// Open opens the file at a path, or standard input for StandardInput.
func Open(path string) (Input, error) {
	if path == StandardInput {
		return Input{os.Stdin}, nil
	}
	f, err := os.Open(path)
	return Input{f}, err
}

// Close closes the file, unless it is standard input.
func (in Input) Close() error {
	if in.File == os.Stdin {
		return nil
	}
	return in.File.Close()
}
