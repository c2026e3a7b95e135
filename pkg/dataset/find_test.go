package dataset

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var tideFile = File{Name: "tide.csv"}

const tideText = "t,y\n0,1\n"

// module makes a module with a folder notebooks/, enters that, and unsets GPPL_DATA. It returns the module's folder.
func module(t *testing.T) string {
	t.Helper()
	// Symbolic links resolved, because Getwd resolves them.
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "go.mod"), "module example\n")
	notebooks := filepath.Join(root, "notebooks")
	mkdir(t, notebooks)
	t.Chdir(notebooks)
	t.Setenv(EnvDir, "")
	return root
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// names lists a folder, hidden files too; a folder that does not exist is empty.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// The places are filled one by one from the last to the first: each must hide those after it.
func TestFindOrder(t *testing.T) {
	root := module(t)
	env := t.TempDir()
	t.Setenv(EnvDir, env)
	explicit := filepath.Join(t.TempDir(), "mine.csv")
	opt := Options{Offline: true}
	for _, path := range []string{
		filepath.Join(root, "data", "tide.csv"),
		filepath.Join(root, "notebooks", "data", "tide.csv"),
		filepath.Join(env, "tide.csv"),
		explicit,
	} {
		write(t, path, tideText)
		if path == explicit {
			opt.Path = explicit
		}
		got, err := Find(t.Context(), tideFile, opt)
		if err != nil {
			t.Fatal(err)
		}
		if got != path {
			t.Errorf("found %s, want %s", got, path)
		}
	}
}

func TestFindOffline(t *testing.T) {
	root := module(t)
	f := tideFile
	f.URL = "https://example.org/tide.csv"
	env := filepath.Join(root, "shared")
	mkdir(t, filepath.Join(env, f.Name)) // a folder is no recording
	t.Setenv(EnvDir, env)
	_, err := Find(t.Context(), f, Options{Offline: true})
	var missing *NotFoundError
	if !errors.As(err, &missing) {
		t.Fatalf("error %v, want a NotFoundError", err)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("not an fs.ErrNotExist")
	}
	for i, want := range []string{
		"GPPL_DATA: read " + filepath.Join(env, f.Name) + ": not a regular file",
		filepath.Join(root, "notebooks", "data", f.Name),
		filepath.Join(root, "data", f.Name),
		"download from " + f.URL + ": not allowed",
	} {
		if i >= len(missing.Tried) || !strings.Contains(missing.Tried[i], want) {
			t.Errorf("Tried = %q; want [%d] with %q", missing.Tried, i, want)
		}
	}
	mustFail(t, err, "tide.csv not found", "set GPPL_DATA=", "give its path", f.URL)

	t.Setenv(EnvDir, "")
	_, err = Find(t.Context(), tideFile, Options{})
	mustFail(t, err, "GPPL_DATA: not set", "no publisher is known")
	_, err = Find(t.Context(), f, Options{Path: "none.csv"})
	mustFail(t, err, "the given file", "none.csv")
	if got := names(t, filepath.Join(root, "data")); got != nil {
		t.Errorf("data/ has %q", got)
	}
}

// publisher serves handler over https; opt is set up to download from it, silently.
func publisher(t *testing.T, handler http.HandlerFunc) (opt Options) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // refused certificates are part of the tests
	server.StartTLS()
	t.Cleanup(server.Close)
	return Options{URL: server.URL + "/tide.csv", Client: server.Client(), Log: io.Discard}
}

func serve(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestDownload(t *testing.T) {
	root := module(t)
	mkdir(t, filepath.Join(root, "data"))
	asked := 0
	opt := publisher(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		serve(tideText)(w, r)
	})
	f := tideFile
	f.SHA256 = strings.ToUpper(sha(tideText))
	f.check = func(path string) error {
		_, err := ReadCSVFile(path, CSVOptions{})
		return err
	}
	var calls [][2]int64
	opt.Progress = func(done, total int64) { calls = append(calls, [2]int64{done, total}) }
	for range 2 { // the second time from the disk
		path, err := Find(t.Context(), f, opt)
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(root, "data", "tide.csv"); path != want {
			t.Errorf("path %s, want %s", path, want)
		}
		if text, _ := os.ReadFile(path); string(text) != tideText {
			t.Errorf("file holds %q", text)
		}
	}
	if asked != 1 {
		t.Errorf("%d requests, want 1", asked)
	}
	n := int64(len(tideText))
	if len(calls) < 2 || calls[0] != [2]int64{0, n} || calls[len(calls)-1] != [2]int64{n, n} {
		t.Errorf("progress %v", calls)
	}
	if got := names(t, filepath.Join(root, "data")); !slices.Equal(got, []string{"tide.csv"}) {
		t.Errorf("data/ has %q", got)
	}
}

func TestDownloadFailures(t *testing.T) {
	big := strings.Repeat("x", 300_000)
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		change  func(*File, *Options)
		want    string
	}{
		"404":          {http.NotFound, nil, "404 Not Found"},
		"wrong sha256": {serve(tideText), func(f *File, _ *Options) { f.SHA256 = sha("other") }, "sha256 is " + sha(tideText)},
		"cut half-way": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(big)))
			io.WriteString(w, big[:len(big)/2])
			panic(http.ErrAbortHandler)
		}, nil, "after"},
		"cut without a length": {func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, big[:len(big)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, nil, "after"},
		"announced too large": {serve(tideText), func(f *File, _ *Options) { f.MaxBytes = 2 }, "limit of 2 bytes"},
		"too large without a length": {func(w http.ResponseWriter, _ *http.Request) {
			for range 10 {
				io.WriteString(w, big)
				w.(http.Flusher).Flush()
			}
		}, func(f *File, _ *Options) { f.MaxBytes = 500_000 }, "limit of 500000 bytes"},
		"not the recording": {serve("<html>"), func(f *File, _ *Options) {
			f.check = func(string) error { return errors.New("no sunspots") }
		}, "not the recording: no sunspots"},
		"compressed all the same": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
		}, nil, "Content-Encoding"},
		"stands still": {func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, func(_ *File, o *Options) { o.stall = 50 * time.Millisecond }, "no data for 50ms"},
		"drips": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil { // the download never pauses for long, and never ends
				io.WriteString(w, "x")
				w.(http.Flusher).Flush()
				time.Sleep(time.Millisecond)
			}
		}, func(_ *File, o *Options) { o.whole = 100 * time.Millisecond }, "not complete after 100ms"},
		"answers never": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			func(_ *File, o *Options) { o.stall = 50 * time.Millisecond }, "no data for 50ms"},
		"a proxy that refuses": {serve(tideText), throughProxy(func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
		}), "Service Unavailable"},
		"a proxy that hangs up": {serve(tideText), throughProxy(func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
			c.Read(make([]byte, 64<<10)) // the greeting: a connection that is closed above unread bytes is reset
		}), "EOF"},
		"a proxy that is silent": {serve(tideText), throughProxy(func(c net.Conn) { io.Copy(io.Discard, c) }), "no data for 50ms"},
		"plain http": {serve(tideText), func(_ *File, o *Options) {
			o.URL = strings.Replace(o.URL, "https", "http", 1)
		}, "only https"},
		"redirected to plain http": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+r.Host+"/", http.StatusFound)
		}, nil, "only https"},
		"redirected for ever": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/tide.csv", http.StatusFound)
		}, nil, "10 redirects"},
		"certificate not trusted": {serve(tideText), func(_ *File, o *Options) { o.Client = nil }, "certificate"},
		"no such address":         {serve(tideText), func(_ *File, o *Options) { o.URL = "https://%" }, "https://%"},
	} {
		t.Run(name, func(t *testing.T) {
			root := module(t)
			mkdir(t, filepath.Join(root, "data"))
			opt, f := publisher(t, test.handler), tideFile
			if test.change != nil {
				test.change(&f, &opt)
			}
			path, err := Find(t.Context(), f, opt)
			mustFail(t, err, "tried, in order", opt.URL, test.want)
			if path != "" {
				t.Errorf("error with path %s", path)
			}
			if got := names(t, filepath.Join(root, "data")); got != nil {
				t.Errorf("left in data/: %q", got)
			}
		})
	}
}

// throughProxy makes requests go through a proxy that answers a CONNECT by answer and then closes the connection.
func throughProxy(answer func(net.Conn)) func(*File, *Options) {
	return func(_ *File, o *Options) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		go func() {
			defer listener.Close()
			c, err := listener.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				answer(c)
			}
		}()
		transport := o.Client.Transport.(*http.Transport).Clone()
		transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: listener.Addr().String()})
		o.Client = &http.Client{Transport: transport}
		o.stall = 50 * time.Millisecond
	}
}

// A recording in a subfolder is found there, and downloaded into it.
func TestFindInSubfolder(t *testing.T) {
	root := module(t)
	f := File{Name: "forecast/tide.csv"}
	path, err := Find(t.Context(), f, publisher(t, serve(tideText)))
	want := filepath.Join(root, "data", "forecast", "tide.csv")
	if err != nil || path != want {
		t.Fatalf("%s, %v; want %s", path, err, want)
	}
	env := t.TempDir()
	t.Setenv(EnvDir, env)
	write(t, filepath.Join(env, "forecast", "tide.csv"), tideText)
	if path, err = Find(t.Context(), f, Options{}); err != nil || path != filepath.Join(env, "forecast", "tide.csv") {
		t.Errorf("%s, %v; want that of GPPL_DATA", path, err)
	}
	_, err = Find(t.Context(), M3File, Options{})
	mustFail(t, err, "forecast/m3.csv not found", "scripts/m3.py")
}

func TestOfflineByEnvironment(t *testing.T) {
	module(t)
	asked := false
	opt := publisher(t, func(http.ResponseWriter, *http.Request) { asked = true })
	t.Setenv(EnvOffline, "1")
	_, err := Find(t.Context(), tideFile, opt)
	mustFail(t, err, "not allowed offline")
	if asked {
		t.Error("the publisher was asked all the same")
	}
}

func TestDownloadCancel(t *testing.T) {
	root := module(t)
	opt := publisher(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	opt.Progress = func(done, _ int64) {
		if done > 0 {
			cancel()
		}
	}
	_, err := Find(ctx, tideFile, opt)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	_, err = Find(ctx, tideFile, opt) // cancelled from the start
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if got := names(t, filepath.Join(root, "data")); got != nil {
		t.Errorf("left in data/: %q", got)
	}
}

// Many calls at once all get a whole file, whichever of them stored it.
func TestDownloadConcurrent(t *testing.T) {
	root := module(t)
	text := strings.Repeat(tideText, 20_000)
	opt := publisher(t, serve(text))
	f := tideFile
	f.SHA256 = sha(text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			path, err := Find(t.Context(), f, opt)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != text {
				t.Errorf("%d bytes of %d, error %v", len(got), len(text), err)
			}
		})
	}
	wg.Wait()
	if got := names(t, filepath.Join(root, "data")); !slices.Equal(got, []string{"tide.csv"}) {
		t.Errorf("data/ has %q", got)
	}
}

func TestDownloadFolder(t *testing.T) {
	root := module(t)
	env := t.TempDir()
	find := func() string {
		t.Helper()
		path, err := Find(t.Context(), tideFile, publisher(t, serve(tideText)))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return filepath.Dir(path)
	}
	// No data/ yet, but a folder of recordings.
	t.Setenv(EnvDir, env)
	if got := find(); got != env {
		t.Errorf("into %s, want GPPL_DATA", got)
	}
	// Neither: beside go.mod, not in notebooks/.
	t.Setenv(EnvDir, "")
	if got, want := find(), filepath.Join(root, "data"); got != want {
		t.Errorf("into %s, want %s", got, want)
	}
	// Now there is data/, which goes before GPPL_DATA.
	t.Setenv(EnvDir, env)
	if got, want := find(), filepath.Join(root, "data"); got != want {
		t.Errorf("into %s, want %s", got, want)
	}
	// In the module's own folder.
	t.Chdir(root)
	if got, want := find(), filepath.Join(root, "data"); got != want {
		t.Errorf("into %s, want %s", got, want)
	}
}

func TestProgressLine(t *testing.T) {
	var b bytes.Buffer
	p := &progressLine{w: &b, name: "tide.csv"}
	p.end()
	if b.Len() != 0 {
		t.Errorf("a download that never began printed %q", b.String())
	}
	p.update(0, 2e6)
	p.update(1e6, 2e6) // too soon to be worth a line
	p.update(2e6, 2e6)
	p.end()
	want := "\rdownloading tide.csv: 0.0 of 2.0 MB, 0 %\rdownloading tide.csv: 2.0 of 2.0 MB, 100 %\n"
	if b.String() != want {
		t.Errorf("printed %q, want %q", b.String(), want)
	}

	b.Reset()
	module(t)
	opt := publisher(t, http.NotFound)
	opt.Log = &b
	if _, err := Find(t.Context(), tideFile, opt); err == nil || b.Len() != 0 {
		t.Errorf("error %v, printed %q", err, b.String())
	}
	opt = publisher(t, serve(tideText))
	opt.Log = &b
	if _, err := Find(t.Context(), tideFile, opt); err != nil || !strings.HasSuffix(b.String(), "100 %\n") {
		t.Errorf("error %v, printed %q", err, b.String())
	}
}
