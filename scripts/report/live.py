"""The program that lets figures of a page compute: cmd/gppl-live as WebAssembly, compressed for the page."""

import hashlib
import lzma
import os
import struct
import subprocess
import sys
from pathlib import Path

from page import VIZ

ADDED = 2_200_000  # bytes that the program may add to a page

# Without inlining the program is about a tenth smaller, and answers took as long.
BUILD = ["go", "build", "-buildvcs=false", "-trimpath", "-gcflags=all=-l", "-ldflags=-s -w"]


class ProgramError(Exception):
    """The program cannot be built, or has grown too large."""


def run(root, *command, **environment):
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=os.environ | environment)
    if done.returncode:
        raise ProgramError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()


def compressed(wasm):
    """An .lzma file that says in its header how long its content is, as the worker of a page expects."""
    packed = bytearray(lzma.compress(wasm, format=lzma.FORMAT_ALONE, preset=9 | lzma.PRESET_EXTREME))
    packed[5:13] = struct.pack("<Q", len(wasm))
    return bytes(packed)


# 91 of the 94 characters that a page shows as they are, of one byte each: two of them stand for 13 bits.
LETTERS = "".join(c for c in map(chr, range(33, 127)) if c not in "<\"'")


def text_of(packed):
    """Bytes as text of a page, a twelfth shorter than in base 64: groups of 13 bits, most significant first, as pairs of letters. The last
    group is filled with zeros."""
    pairs = [a + b for a in LETTERS for b in LETTERS]
    padded = packed + bytes(-len(packed) % 13)
    out = []
    for i in range(0, len(padded), 13):
        bits = int.from_bytes(padded[i:i + 13], "big")
        out += [pairs[bits >> shift & 8191] for shift in range(91, -1, -13)]
    return "".join(out)


def made(root):
    """The source of the worker of a page that computes, and the compressed program as text. What was compressed before is taken from
    .env/live."""
    folder = Path(root) / ".env" / "live"
    folder.mkdir(parents=True, exist_ok=True)
    wasm = folder / f"{os.getpid()}.wasm"  # notebooks are executed at once
    run(root, *BUILD, "-o", str(wasm), "./cmd/gppl-live", GOOS="js", GOARCH="wasm", GOFLAGS="")
    content = wasm.read_bytes()
    wasm.unlink()
    text = folder / f"{hashlib.sha256(content).hexdigest()[:16]}.txt"
    if not text.is_file():
        for old in folder.glob("*.txt"):
            old.unlink(missing_ok=True)
        write(text, text_of(compressed(content)).encode())
    glue = Path(run(root, "go", "env", "GOROOT")) / "lib" / "wasm" / "wasm_exec.js"
    worker = glue.read_text("utf-8") + (VIZ / "live_worker.js").read_text("utf-8")
    return worker, text.read_text("ascii")


def write(path, content):
    """Writes a file whole or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_bytes(content)
    part.replace(path)


def parts(root):
    """What a page that computes has: the source of its worker, the program, and a style sheet."""
    worker, text = made(root)
    if len(worker) + len(text) > ADDED:
        raise ProgramError(f"the program adds {len(worker) + len(text)} bytes to a page, more than {ADDED}")
    return worker, text, (VIZ / "live.css").read_text("utf-8")


def script():
    return (VIZ / "live.js").read_text("utf-8")


if __name__ == "__main__":  # go generate: writes what cmd/gppl/built has in it
    root = Path(__file__).parents[2]
    worker, text, _ = parts(root)
    sources = sorted(p for p in (VIZ / "live").glob("*.go") if not p.name.endswith("_test.go"))  # live.Sources
    write(Path(sys.argv[1]) / "sources", hashlib.sha256(b"".join(p.read_bytes() for p in sources)).hexdigest().encode())
    write(Path(sys.argv[1]) / "worker.js", worker.encode())
    write(Path(sys.argv[1]) / "program.txt", text.encode())
