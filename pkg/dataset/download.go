package dataset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/files"
)

const (
	defaultMaxBytes = 256 << 20
	defaultStall    = time.Minute
	defaultWhole    = 5 * time.Minute // a download of 40 MB, the largest, takes so long at 1 Mbit/s
)

// download fetches f.URL into dir under f.Name and returns the path. If it fails, the folder stays as it was.
func download(ctx context.Context, f File, dir string, opt Options) (path string, err error) {
	log := cmp.Or[io.Writer](opt.Log, os.Stderr)
	progress := opt.Progress
	if progress == nil {
		line := &progressLine{w: log, name: f.Name}
		defer line.end()
		progress = line.update
	}
	stall := cmp.Or(opt.stall, defaultStall)

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no data for %v", stall)) })
	defer watch.Stop()
	whole := cmp.Or(opt.whole, defaultWhole)
	limit := time.AfterFunc(whole, func() { cancel(fmt.Errorf("not complete after %v", whole)) })
	defer limit.Stop()
	defer func() {
		if err == nil {
			return
		}
		// The cause says more than the "context canceled" that net/http makes of it.
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		if !strings.Contains(err.Error(), f.URL) {
			err = fmt.Errorf("%s: %w", f.URL, err)
		}
	}()

	body, total, err := request(ctx, f, opt.Client)
	if err != nil {
		return "", err
	}
	defer body.Close()

	path = filepath.Join(dir, f.Name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", err
	}
	sum := sha256.New()
	var done int64
	err = files.Write(ctx, path, func(w io.Writer) error {
		progress(0, total)
		if done, err = copyBody(io.MultiWriter(w, sum), body, f.maxBytes(), func(done int64) {
			watch.Reset(stall)
			progress(done, total)
		}); err != nil {
			return fmt.Errorf("after %d bytes: %w", done, err)
		}
		watch.Stop()
		if total >= 0 && done != total {
			return fmt.Errorf("%d bytes came, %d were announced", done, total)
		}
		if got := hex.EncodeToString(sum.Sum(nil)); f.SHA256 != "" && !strings.EqualFold(got, f.SHA256) {
			return fmt.Errorf("sha256 is %s, want %s", got, f.SHA256)
		}
		if tmp, ok := w.(*os.File); ok && f.check != nil {
			if err := f.check(tmp.Name()); err != nil {
				return fmt.Errorf("not the recording: %w", err)
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return "", err
	}
	progress(done, done)
	if got := hex.EncodeToString(sum.Sum(nil)); f.known != nil && !slices.Contains(f.known, got) {
		fmt.Fprintf(log, "\n%s: sha256 %s is new: the publisher adds to the file. Seen before: %s\n",
			path, got, strings.Join(f.known, ", "))
	}
	return path, nil
}

func (f File) maxBytes() int64 {
	if f.MaxBytes > 0 {
		return f.MaxBytes
	}
	return defaultMaxBytes
}

// request asks for f.URL and returns the body with its announced length, −1 if there is none.
func request(ctx context.Context, f File, client *http.Client) (io.ReadCloser, int64, error) {
	address, err := url.Parse(f.URL)
	if err != nil {
		return nil, 0, err
	}
	if err := mustHTTPS(address); err != nil {
		return nil, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return nil, 0, err
	}
	// The transfer is not compressed, so that Content-Length is the length of the file.
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "gppl-dataset")
	resp, err := httpsOnly(client).Do(req)
	if err != nil {
		return nil, 0, err
	}
	switch {
	case resp.StatusCode != http.StatusOK:
		err = errors.New(resp.Status)
	case resp.Header.Get("Content-Encoding") != "" && resp.Header.Get("Content-Encoding") != "identity":
		err = fmt.Errorf("unexpected Content-Encoding %s", quoted(resp.Header.Get("Content-Encoding")))
	case resp.ContentLength > f.maxBytes():
		err = tooLarge(f.maxBytes())
	}
	if err != nil {
		resp.Body.Close()
		return nil, 0, err
	}
	return resp.Body, resp.ContentLength, nil
}

// httpsOnly returns a copy of client that follows no redirect to a scheme other than https.
func httpsOnly(client *http.Client) *http.Client {
	var c http.Client
	if client != nil {
		c = *client
	} else {
		c.Transport = defaultTransport
	}
	follow := c.CheckRedirect
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if err := mustHTTPS(req.URL); err != nil {
			return err
		}
		if follow != nil {
			return follow(req, via)
		}
		if len(via) >= 10 {
			return errors.New("stopped after 10 redirects")
		}
		return nil
	}
	return &c
}

var defaultTransport = &http.Transport{
	Proxy:                 http.ProxyFromEnvironment,
	DialContext:           (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
	TLSHandshakeTimeout:   15 * time.Second,
	ResponseHeaderTimeout: 30 * time.Second,
	IdleConnTimeout:       30 * time.Second,
	ForceAttemptHTTP2:     true,
}

func mustHTTPS(u *url.URL) error {
	if u.Scheme != "https" {
		return fmt.Errorf("%s: only https is allowed", u.Redacted())
	}
	return nil
}

// copyBody copies src to dst until its end, at most limit bytes, and reports the bytes done after each part.
func copyBody(dst io.Writer, src io.Reader, limit int64, report func(done int64)) (done int64, err error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		if done+int64(n) > limit {
			return done, tooLarge(limit)
		}
		if n > 0 {
			if _, err := dst.Write(buf[:n]); err != nil {
				return done, err
			}
			done += int64(n)
			report(done)
		}
		if err == io.EOF {
			return done, nil
		}
		if err != nil {
			return done, err
		}
	}
}

func tooLarge(limit int64) error { return fmt.Errorf("larger than the limit of %d bytes", limit) }

// progressLine redraws one line of text as a download goes on.
type progressLine struct {
	w     io.Writer
	name  string
	last  time.Time
	drawn bool
	width int
}

func (p *progressLine) update(done, total int64) {
	// More lines than this would be a burden to a notebook or a log.
	if finished := done == total; !finished && time.Since(p.last) < 500*time.Millisecond {
		return
	}
	p.last, p.drawn = time.Now(), true
	text := fmt.Sprintf("downloading %s: %.1f MB", p.name, float64(done)/1e6)
	if total > 0 {
		text = fmt.Sprintf("downloading %s: %.1f of %.1f MB, %d %%", p.name, float64(done)/1e6, float64(total)/1e6, 100*done/total)
	}
	// Padding wipes what a longer line left.
	p.width = max(p.width, len(text))
	fmt.Fprintf(p.w, "\r%-*s", p.width, text)
}

// end ends the line, whatever came of the download.
func (p *progressLine) end() {
	if p.drawn {
		fmt.Fprintln(p.w)
	}
}
