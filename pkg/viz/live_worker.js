// The worker of a page whose figures compute: it unpacks the program (cmd/gppl-live) and hands messages to it. Go's wasm_exec.js stands
// before it.

// The bytes that scripts/report/live.py has as text: pairs of letters stand for 13 bits each.
const bytes = (text) => {
	const value = new Uint8Array(128), out = new Uint8Array(text.length * 13 >> 4);
	for (let c = 33, v = 0; c < 127; c++) if (c !== 34 && c !== 39 && c !== 60) value[c] = v++;
	let bits = 0, held = 0, to = 0;
	for (let i = 0; i < text.length; i += 2) {
		bits = (bits & (1 << held) - 1) << 13 | value[text.charCodeAt(i)] * 91 + value[text.charCodeAt(i + 1)];
		for (held += 13; held >= 8; held -= 8) out[to++] = bits >> held - 8;
	}
	return out;
};

// The bytes of an .lzma file whose header says how many there are. LZMA and not gzip: the program is a quarter smaller. After the
// specification in Igor Pavlov's LZMA SDK (lzma-specification.txt), which is in the public domain.
const unpack = (input) => {
	const first = input[0], lc = first % 9, lp = Math.floor(first / 9) % 5, pb = Math.floor(first / 45);
	const out = new Uint8Array(Number(new DataView(input.buffer).getBigUint64(5, true)));
	const even = (n) => new Uint16Array(n).fill(1024); // probabilities of one half
	const coder = new Uint32Array([0xffffffff, 0]); // range and code; a typed array, since other numbers of 32 bits are slow
	let from = 13, to = 0;
	for (let i = 0; i < 5; i++) coder[1] = coder[1] << 8 | input[from++];
	const normalise = () => {
		if (coder[0] < 0x1000000) {
			coder[0] <<= 8;
			coder[1] = coder[1] << 8 | input[from++];
		}
	};
	const bit = (p, i) => {
		const bound = (coder[0] >>> 11) * p[i];
		if (coder[1] < bound) {
			coder[0] = bound;
			p[i] += 2048 - p[i] >> 5;
			normalise();
			return 0;
		}
		coder[0] -= bound;
		coder[1] -= bound;
		p[i] -= p[i] >> 5;
		normalise();
		return 1;
	};
	const direct = (n) => {
		let v = 0;
		while (n-- > 0) {
			coder[0] >>>= 1;
			const one = coder[1] >= coder[0] ? 1 : 0;
			if (one) coder[1] -= coder[0];
			normalise();
			v = v << 1 | one;
		}
		return v >>> 0;
	};
	const tree = (p, at, n) => {
		let m = 1;
		for (let i = 0; i < n; i++) m = m << 1 | bit(p, at + m);
		return m - (1 << n);
	};
	const reverse = (p, at, n) => {
		let m = 1, v = 0;
		for (let i = 0; i < n; i++) {
			const b = bit(p, at + m);
			m = m << 1 | b;
			v |= b << i;
		}
		return v;
	};
	const lengths = () => ({choice: even(2), low: even(128), mid: even(128), high: even(256)});
	const length = (l, place) => !bit(l.choice, 0) ? tree(l.low, place << 3, 3) : !bit(l.choice, 1) ? 8 + tree(l.mid, place << 3, 3) : 16 + tree(l.high, 0, 8);
	const literals = even(0x300 << lc + lp), isMatch = even(192), isRep = even(12), isRep0 = even(12), isRep1 = even(12), isRep2 = even(12), isRep0Long = even(192);
	const slots = even(256), special = even(128), align = even(16), matched = lengths(), repeated = lengths();
	const distance = (n) => {
		const slot = tree(slots, Math.min(n, 3) << 6, 6);
		if (slot < 4) return slot;
		const bits = (slot >> 1) - 1, base = ((2 | slot & 1) << bits) >>> 0;
		return slot < 14 ? base + reverse(special, base - slot, bits) : base + direct(bits - 4) * 16 + reverse(align, 0, 4);
	};
	let state = 0, rep0 = 0, rep1 = 0, rep2 = 0, rep3 = 0;
	while (to < out.length) {
		const place = to & (1 << pb) - 1;
		if (!bit(isMatch, (state << 4) + place)) {
			const at = 0x300 * (((to & (1 << lp) - 1) << lc) + ((to ? out[to - 1] : 0) >> 8 - lc));
			let symbol = 1;
			if (state >= 7) {
				let match = out[to - rep0 - 1];
				while (symbol < 0x100) {
					const expected = match >> 7 & 1, b = bit(literals, at + (1 + expected << 8) + symbol);
					match <<= 1;
					symbol = symbol << 1 | b;
					if (expected !== b) break;
				}
			}
			while (symbol < 0x100) symbol = symbol << 1 | bit(literals, at + symbol);
			out[to++] = symbol;
			state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
			continue;
		}
		let n;
		if (bit(isRep, state)) {
			if (!bit(isRep0, state)) {
				if (!bit(isRep0Long, (state << 4) + place)) {
					state = state < 7 ? 9 : 11;
					out[to] = out[to++ - rep0 - 1];
					continue;
				}
			} else {
				let d;
				if (!bit(isRep1, state)) d = rep1;
				else {
					if (!bit(isRep2, state)) d = rep2;
					else { d = rep3; rep3 = rep2; }
					rep2 = rep1;
				}
				rep1 = rep0;
				rep0 = d;
			}
			n = length(repeated, place);
			state = state < 7 ? 8 : 11;
		} else {
			rep3 = rep2; rep2 = rep1; rep1 = rep0;
			n = length(matched, place);
			state = state < 7 ? 7 : 10;
			rep0 = distance(n);
		}
		n += 2;
		if (rep0 >= to) throw new Error('the program is damaged');
		for (; n > 0 && to < out.length; n--, to++) out[to] = out[to - rep0 - 1];
	}
	return out;
};

let started;
onmessage = async ({data: {program, text}}) => {
	try {
		if (program) {
			const go = new Go();
			started = WebAssembly.instantiate(unpack(bytes(program)), go.importObject)
				.then(({instance}) => { go.run(instance); }); // which ends with the page
		}
		await started;
		if (text) postMessage(gpplLive(text));
	} catch (error) {
		postMessage(JSON.stringify({error: `${error}`}));
	}
};
