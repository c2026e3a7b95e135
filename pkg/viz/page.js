// Makes the figures of a page alive: values under the cursor, zoom, pan, and their data to take. It finds what a figure shows in its
// data-gppl attribute (see layer.go). The looks are those of the SVG, whose elements say which part of a panel they are (see part in
// output.go): while a reader zooms, copies of them take other shapes, and the elements themselves are hidden.
(() => {
	if (window.gpplFigures) return;
	window.gpplFigures = true;
	const nearby = 24; // CSS pixels from the cursor to what it reads off
	const minus = (s) => s.replace(/-/g, '−');
	const dress = (e, attributes, children) => {
		for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
		e.append(...children);
		return e;
	};
	const make = (tag, attributes = {}, ...children) => dress(document.createElement(tag), attributes, children);
	const draw = (tag, attributes = {}, ...children) => dress(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
	const colour = (hex) => `var(--gppl-${hex}, #${hex})`;
	const grouped = (elements) => {
		const by = new Map();
		for (const e of elements) (by.get(e.dataset.part) ?? by.set(e.dataset.part, []).get(e.dataset.part)).push(e);
		return by;
	};
	// An element of an SVG once more, as another shape if there is one.
	const like = (e, shape) => {
		const copy = e.cloneNode(true);
		copy.removeAttribute('class');
		copy.style.visibility = '';
		if (shape !== undefined) copy.setAttribute('d', shape);
		return copy;
	};

	// What a figure shows: panels of layers, their numbers in typed arrays, NaN where there is a gap.
	const decode = async (text) => {
		const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
		const panels = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
		for (const p of panels) {
			if (!p) continue;
			for (const l of p.layers) {
				for (const k of ['x', 'y', 'lo', 'hi', 'xBars', 'yBars']) {
					if (typeof l[k] === 'number') {
						if (k === 'y') l.again = true; // the dots on a line
						l[k] = p.layers[l[k]][k];
					} else if (l[k]) l[k] = Float64Array.from(l[k], (v) => v === null ? NaN : v);
				}
				l.ascends = !!l.x && l.x.every((v, i) => i === 0 || v >= l.x[i - 1]);
			}
			p.home = {x0: p.range[0], x1: p.range[1], y0: p.range[2], y1: p.range[3]};
			p.view = {...p.home};
			p.cloud = p.layers.some((l) => l.kind === 'points');
		}
		return panels;
	};

	const scale = (v, log) => log ? Math.log10(v) : v;
	const unscale = (v, log) => log ? 10 ** v : v;
	const zoomed = (p) => ['x0', 'x1', 'y0', 'y1'].some((k) => p.view[k] !== p.home[k]);

	// Ticks of a zoomed axis: at decades, at 1, 2 and 5 times these, or at steps of as much, n of them or fewer, with their labels.
	const ticks = (a, b, log, n) => {
		const found = [], decades = log ? Math.log10(b / a) : 0;
		if (decades >= 0.8) {
			const stride = Math.ceil(decades / (n + 1));
			for (let e = stride * Math.ceil(Math.log10(a) / stride - 1); 10 ** e <= b; e += stride) {
				for (const m of decades < 2.2 ? [1, 2, 5] : [1]) if (m * 10 ** e >= a && m * 10 ** e <= b) found.push(m * 10 ** e);
			}
			return found.map((v) => [v, v >= 1e-3 && v < 1e5 ? String(+v.toPrecision(6)) : minus(v.toExponential(0).replace('e+', 'e'))]);
		}
		const power = 10 ** Math.floor(Math.log10((b - a) / n)), step = [1, 2, 5, 10].find((m) => (b - a) / n < 1.5 * m * power) * power;
		const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), plain = Math.max(Math.abs(a), Math.abs(b)) < 1e7 && digits < 9;
		for (let k = Math.ceil(a / step - 1e-9); k * step <= b + 1e-9 * step; k++) found.push(k * step);
		return found.map((v) => [v, Math.abs(v) < step / 2 ? '0' : minus(plain ? v.toFixed(digits) : v.toPrecision(4))]);
	};
	const said = (v, span) => {
		if (!Number.isFinite(v)) return '–';
		const a = Math.abs(v);
		if (v !== 0 && (a < 1e-4 || a >= 1e7)) return minus(v.toExponential(3));
		const digits = Math.max(0, Math.min(8, 3 - Math.floor(Math.log10(span || a || 1))));
		return minus(a && a < 10 ** -digits ? v.toPrecision(3) : v.toFixed(digits));
	};

	// The date at x, in milliseconds since 1970, on an axis that counts units from an origin or, where it has a day, months of equal length that
	// begin on it.
	const day = 864e5, units = {year: 365.25 * day, day, hour: day / 24, second: 1000};
	const time = (x, {origin, zero = 0, unit, day: begins}) => {
		const first = Date.parse(origin), o = new Date(first), months = 12 * (x - zero), k = Math.floor(months + 1e-9);
		const begin = (m) => {
			const at = (d, n) => Date.UTC(o.getUTCFullYear(), o.getUTCMonth() + m + n, d);
			return Math.min(at(begins, 0), at(0, 1)) + (first % day + day) % day;
		};
		return begins ? begin(k) + (months - k) * (begin(k + 1) - begin(k)) : first + (x - zero) * units[unit];
	};
	const dated = (x, dates) => {
		const ms = time(x, dates), {clock, period, week} = dates;
		if (!(Math.abs(ms) < 8e15)) return '–';
		const at = new Date(ms + day / 2), month = at.getUTCMonth();
		if (at.getUTCDate() === 1 && period === 'month') return at.toISOString().slice(0, 7);
		if (at.getUTCDate() === 1 && period === 'quarter' && month % 3 === 0) return at.toISOString().slice(0, 4) + '-Q' + (month / 3 + 1);
		if (week !== undefined) { // the nearest: what is drawn between two weeks is nearly that of one
			const days = (at.getUTCDay() - week + 7) % 7;
			return 'week of ' + new Date(+at + (days > 3 ? 7 - days : -days) * day).toISOString().slice(0, 10);
		}
		return clock ? new Date(Math.round(ms / 1000) * 1000).toISOString().slice(0, 19).replace('T', ' ') : new Date(ms + day / 2).toISOString().slice(0, 10);
	};

	// Ticks of a zoomed axis of dates, about n of them, with labels as pkg/viz/dates.go has them: at the beginnings of years, months, days, hours.
	const seconds = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 345600, 604800, 1209600];
	const steps = [...seconds.map((apart) => ({apart})), ...[1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200].map((m) => ({m}))];
	const dateTicks = (a, b, dates, n) => {
		const from = time(a, dates), to = time(b, dates), f = new Date(from), start = 12 * f.getUTCFullYear() + f.getUTCMonth();
		const every = ({apart, m}) => {
			const found = [];
			const at = (k) => apart ? (Math.floor((from - 4 * day) / (1000 * apart)) + k) * 1000 * apart + 4 * day : new Date(0).setUTCFullYear(0, start - start % m + k * m, 1); // a Monday; a year below 100 is one
			for (let k = 0; k < 4 * n + 4 && at(k) <= to; k++) {
				let lo = a, hi = b;
				if (!(at(k) >= from)) continue;
				for (let i = 0; i < 60; i++) if (time((lo + hi) / 2, dates) < at(k)) lo = (lo + hi) / 2; else hi = (lo + hi) / 2;
				const [, date, month, year, clock] = new Date(at(k)).toUTCString().split(' '), days = `${+date} ${month}`;
				found.push([hi, apart < 60 ? clock : apart < 86400 ? `${days} ${clock.slice(0, 5)}` : apart ? `${days} ${+year}` : m < 12 ? `${month} ${+year}` : String(+year)]);
			}
			return found;
		};
		const first = steps.findIndex(({apart, m}) => to - from <= n * (apart ? 1000 * apart : 30.4 * day * m));
		for (let i = first < 0 ? steps.length - 1 : first; i >= 0; i--) { // the next shorter one, if an axis shows hardly one of these
			const found = every(steps[i]);
			if (found.length > 1) return found;
		}
		return ticks(a, b, false, n).map(([t]) => [t, dated(t, dates)]);
	};

	class Figure {
		constructor(figure) {
			this.figure = figure;
			this.plot = figure.querySelector('.gppl-plot');
			this.name = (this.plot.querySelector('svg').getAttribute('aria-label') || 'figure').split('. ')[0];
			this.tools();
			if (figure.classList.contains('gppl-live')) this.stage();
		}

		load() {
			return this.loading ??= decode(this.figure.dataset.gppl).then((panels) => { this.panels = panels; return panels; });
		}

		tools() {
			const tools = make('div', {class: 'gppl-tools', role: 'group', 'aria-label': `Tools of the figure: ${this.name}`});
			const button = (text, title, action) => {
				const b = make('button', {type: 'button', title, 'aria-label': title}, text);
				b.addEventListener('click', () => this.load().then(action));
				tools.append(b);
				return b;
			};
			if (this.figure.classList.contains('gppl-live')) {
				button('+', 'Zoom in', () => this.zoom(0.5));
				button('−', 'Zoom out', () => this.zoom(2));
				this.reset = button('Reset', 'Reset: show all of it', () => this.home());
				this.reset.disabled = true;
			}
			button('SVG', 'Download this figure as SVG', () => this.save('svg', this.vector(), 'image/svg+xml'));
			button('CSV', 'Download the data of this figure as CSV', () => this.save('csv', this.table(), 'text/csv'));
			this.figure.querySelector('.gppl-foot').prepend(tools);
		}

		stage() {
			this.tip = make('div', {class: 'gppl-tip', 'aria-hidden': 'true'});
			this.tip.hidden = true;
			this.live = make('div', {class: 'gppl-hidden', role: 'status', 'aria-live': 'polite'});
			const s = this.stageElement = make('div', {
				class: 'gppl-stage', tabindex: '0', role: 'application', 'data-lm-suppress-shortcuts': 'true',
				'aria-label': `Values and zoom of the figure: ${this.name}. Left and right arrow read values, up and down change the panel, plus and minus zoom, shift with an arrow moves, 0 shows all, escape ends.`,
			}, this.tip);
			this.plot.append(s, this.live);
			const with_ = (f) => (e) => this.panels ? f(e) : this.load().then(() => f(e));
			s.addEventListener('pointerenter', () => this.load());
			s.addEventListener('focus', () => this.load());
			s.addEventListener('pointermove', with_((e) => this.move(e)));
			s.addEventListener('pointerdown', with_((e) => this.down(e)));
			s.addEventListener('pointerup', with_((e) => this.up(e)));
			s.addEventListener('pointercancel', () => { this.drag = null; this.draw(); });
			s.addEventListener('pointerleave', () => { if (!this.drag) this.point(null); });
			s.addEventListener('dblclick', () => this.home());
			s.addEventListener('wheel', (e) => {
				if (!this.panels || !(e.ctrlKey || document.activeElement === s)) return; // the page scrolls
				const at = this.at(e);
				if (!at) return;
				e.preventDefault();
				this.zoom(e.deltaY < 0 ? 0.8 : 1.25, at);
			}, {passive: false});
			s.addEventListener('keydown', (e) => this.key(e));
			new ResizeObserver(() => this.panels && this.draw()).observe(this.plot);
		}

		svg() { return [...this.plot.children].find((c) => c.tagName === 'svg' && c.getClientRects().length); }

		// Where the panels are drawn, in points, and how many CSS pixels a point has.
		geometry() {
			const svg = this.svg();
			if (!svg) return {places: [], k: 1};
			const box = svg.getBoundingClientRect();
			const places = svg.dataset.panels.split(';').map((part) => {
				const [panel, x, y, w, h] = part.split(' ').map(Number);
				return {panel, x, y, w, h};
			});
			return {svg, places, k: box.width / svg.viewBox.baseVal.width, width: box.width, height: box.height, bottom: svg.viewBox.baseVal.height};
		}

		// Functions from data to points, of what is in view.
		map(p, r, v = p.view) {
			const x0 = scale(v.x0, p.xLog), x1 = scale(v.x1, p.xLog), y0 = scale(v.y0, p.yLog), y1 = scale(v.y1, p.yLog);
			return {
				x: (x) => r.x + r.w * (scale(x, p.xLog) - x0) / (x1 - x0), y: (y) => r.y + r.h * (1 - (scale(y, p.yLog) - y0) / (y1 - y0)),
				backX: (px) => unscale(x0 + (px - r.x) / r.w * (x1 - x0), p.xLog), backY: (py) => unscale(y0 + (1 - (py - r.y) / r.h) * (y1 - y0), p.yLog),
			};
		}

		// The panel under the pointer, and where in it.
		at(e) {
			const {svg, places, k} = this.geometry();
			if (!svg) return null;
			const box = svg.getBoundingClientRect(), px = (e.clientX - box.left) / k, py = (e.clientY - box.top) / k;
			const r = places.find((r) => px > r.x - 8 && px < r.x + r.w + 8 && py > r.y - 8 && py < r.y + r.h + 8);
			return r && this.panels[r.panel] ? {r, p: this.panels[r.panel], px, py, k} : null;
		}

		// The panels that share an axis with one.
		linked(p, axis) { return p[axis === 'x' ? 'shareX' : 'shareY'] ? this.panels.filter((q) => q) : [p]; }

		setRange(p, axis, a, b) {
			const log = p[axis + 'Log'], h0 = scale(p.home[axis + 0], log), h1 = scale(p.home[axis + 1], log);
			let lo = scale(a, log), hi = scale(b, log);
			const span = Math.min(hi - lo, h1 - h0);
			if (!(span > 1e-6 * (h1 - h0))) return; // closer than the numbers are known
			if (lo < h0) { lo = h0; hi = h0 + span; }
			if (hi > h1) { hi = h1; lo = h1 - span; }
			const all = span >= (h1 - h0) * (1 - 1e-9);
			for (const q of this.linked(p, axis)) {
				if (!q.zoom) continue;
				q.view[axis + 0] = all ? q.home[axis + 0] : unscale(lo, log);
				q.view[axis + 1] = all ? q.home[axis + 1] : unscale(hi, log);
			}
		}

		// Gives the vertical axis the range of what is in sight: by zooming along x a reader wants to see the curve fill the panel.
		fit(p) {
			let lo = Infinity, hi = -Infinity;
			const group = new Set([...this.linked(p, 'x'), p].flatMap((q) => this.linked(q, 'y')));
			const fitOne = (members) => {
				lo = Infinity; hi = -Infinity;
				for (const q of members) for (const l of q.layers) {
					if (!l.x) continue;
					for (let i = 0; i < l.x.length; i++) {
						if (l.x[i] < q.view.x0 || l.x[i] > q.view.x1) continue;
						for (const y of [l.y?.[i], l.lo?.[i], l.hi?.[i]]) if (Number.isFinite(y) && (!q.yLog || y > 0)) { lo = Math.min(lo, y); hi = Math.max(hi, y); }
					}
				}
				const q = members[0];
				if (!(lo < hi)) return;
				const a = scale(lo, q.yLog), b = scale(hi, q.yLog), pad = 0.05 * (b - a);
				const y0 = Math.max(unscale(a - pad, q.yLog), q.home.y0), y1 = Math.min(unscale(b + pad, q.yLog), q.home.y1);
				if (y0 < y1) this.setRange(q, 'y', y0, y1);
			};
			if (p.shareY) fitOne([...group]);
			else for (const q of group) if (q.zoom) fitOne([q]);
		}

		zoom(factor, at) {
			const {places} = this.geometry();
			if (!at) { // by a button or a key: around what is read off, or the middle
				const panel = this.cursor?.p ?? this.panels.find((p) => p?.zoom), r = places.find((r) => this.panels[r.panel] === panel);
				if (!r) return;
				const m = this.map(panel, r);
				at = {p: panel, r, px: this.cursor ? m.x(this.cursor.x) : r.x + r.w / 2, py: this.cursor && panel.cloud ? m.y(this.cursor.hits[0].l.y[this.cursor.hits[0].i]) : r.y + r.h / 2};
			}
			const {p, r} = at;
			if (!p.zoom) return;
			const m = this.map(p, r), toX = (px) => m.backX(at.px + (px - at.px) * factor), toY = (py) => m.backY(at.py + (py - at.py) * factor);
			this.setRange(p, 'x', toX(r.x), toX(r.x + r.w));
			if (p.cloud) this.setRange(p, 'y', toY(r.y + r.h), toY(r.y));
			else if (p.view.x0 === p.home.x0 && p.view.x1 === p.home.x1) for (const q of this.linked(p, 'x').flatMap((q) => this.linked(q, 'y'))) Object.assign(q.view, {y0: q.home.y0, y1: q.home.y1});
			else this.fit(p);
			this.draw();
		}

		pan(p, r, dx, dy) { // in points
			const m = this.map(p, r);
			this.setRange(p, 'x', m.backX(r.x - dx), m.backX(r.x + r.w - dx));
			if (dy) this.setRange(p, 'y', m.backY(r.y + r.h - dy), m.backY(r.y - dy));
		}

		home() {
			for (const p of this.panels ?? []) if (p) p.view = {...p.home};
			this.draw();
		}

		down(e) {
			const at = this.at(e);
			if (!at || e.button || !at.p.zoom) return;
			const moves = zoomed(at.p) && !e.shiftKey;
			if (e.pointerType === 'touch' && !moves) return; // the page scrolls; a tap reads off
			this.drag = {...at, moves, x: at.px, y: at.py};
			this.stageElement.setPointerCapture(e.pointerId);
		}

		move(e) {
			if (!this.drag) {
				if (e.pointerType === 'touch' && e.buttons) return;
				const at = this.at(e);
				this.point(at && this.nearest(at));
				return;
			}
			const {svg, k} = this.geometry(), box = svg.getBoundingClientRect(), d = this.drag;
			const px = (e.clientX - box.left) / k, py = (e.clientY - box.top) / k;
			this.point(null);
			if (d.moves) {
				this.pan(d.p, d.r, px - d.px, e.pointerType === 'touch' ? 0 : py - d.py);
				d.px = px; d.py = py;
			} else d.to = {x: Math.min(Math.max(px, d.r.x), d.r.x + d.r.w), y: Math.min(Math.max(py, d.r.y), d.r.y + d.r.h)};
			this.draw();
		}

		up(e) {
			const d = this.drag;
			this.drag = null;
			if (d?.to && Math.abs(d.to.x - d.x) > 4) {
				const m = this.map(d.p, d.r), tall = Math.abs(d.to.y - d.y) > 0.08 * d.r.h;
				this.setRange(d.p, 'x', m.backX(Math.min(d.x, d.to.x)), m.backX(Math.max(d.x, d.to.x)));
				if (tall) this.setRange(d.p, 'y', m.backY(Math.max(d.y, d.to.y)), m.backY(Math.min(d.y, d.to.y)));
				else this.fit(d.p);
			}
			const at = this.at(e);
			if (at && e.pointerType === 'touch') this.point(this.nearest(at));
			this.draw();
		}

		key(e) {
			const used = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', '+', '=', '-', '_', '0', 'Escape'].includes(e.key);
			if (!used || e.ctrlKey || e.metaKey || e.altKey) return;
			e.preventDefault();
			e.stopPropagation();
			this.load().then(() => {
				const panels = this.panels.filter((p) => p?.zoom || p?.layers.some((l) => l.x)), {places} = this.geometry();
				const p = this.cursor?.p ?? panels[0], r = places.find((r) => this.panels[r.panel] === p);
				const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[e.key];
				if (e.key === '+' || e.key === '=') this.zoom(0.5);
				else if (e.key === '-' || e.key === '_') this.zoom(2);
				else if (e.key === '0') this.home();
				else if (e.key === 'Escape') this.point(null);
				else if (e.shiftKey) { this.pan(p, r, -steps[0] * r.w / 5, steps[1] * r.h / 5); this.draw(); }
				else if (steps[1]) {
					const next = panels[panels.indexOf(p) - steps[1]];
					if (next) this.step(next, 0, true);
				} else this.step(p, steps[0], true);
			});
		}

		// The next thing to read off: points in the order of x, or the abscissae of the curves.
		step(p, by, aloud) {
			p.stops ??= p.cloud
				? p.layers.flatMap((l) => l.kind === 'points' ? Array.from(l.x, (x, i) => ({x, hits: [{l, i}]})) : []).sort((a, b) => a.x - b.x)
				: [...new Set(p.layers.flatMap((l) => l.x ? Array.from(l.x).filter(Number.isFinite) : []))].sort((a, b) => a - b).map((x) => ({x}));
			const seen = p.stops.filter((s) => s.x >= p.view.x0 && s.x <= p.view.x1);
			if (!seen.length) return;
			let i = this.cursor?.p === p ? seen.findIndex((s) => p.cloud ? s.hits[0].l === this.cursor.hits[0].l && s.hits[0].i === this.cursor.hits[0].i : s.x >= this.cursor.x) : -1;
			i = i < 0 ? (by < 0 ? seen.length - 1 : 0) : Math.min(Math.max(i + by, 0), seen.length - 1);
			const s = seen[i];
			this.point({p, x: s.x, hits: s.hits ?? this.hits(p, s.x)});
			if (aloud) this.live.textContent = this.tip.textContent;
		}

		// What the layers are at an abscissa: the nearest of each, if it is near.
		hits(p, x) {
			const r = this.geometry().places.find((r) => this.panels[r.panel] === p), m = this.map(p, r), px = m.x(x), hits = [];
			for (const l of p.layers) {
				if (!l.x || l.again) continue;
				const i = this.nearestIndex(l, x, (v) => Math.abs(m.x(v) - px));
				if (i >= 0 && Math.abs(m.x(l.x[i]) - px) < nearby / 3) hits.push({l, i});
			}
			return hits;
		}

		nearestIndex(l, x, distance) {
			if (l.ascends) {
				let a = 0, b = l.x.length - 1;
				while (b - a > 1) { const c = (a + b) >> 1; if (l.x[c] < x) a = c; else b = c; }
				return distance(l.x[a]) <= distance(l.x[b]) ? a : b;
			}
			let best = -1, least = Infinity;
			for (let i = 0; i < l.x.length; i++) { const d = distance(l.x[i]); if (d < least) { least = d; best = i; } }
			return best;
		}

		nearest({p, r, px, py, k}) {
			const m = this.map(p, r);
			let best = null, least = nearby / k;
			for (const l of p.layers) {
				if (!l.x) continue;
				if (p.cloud) {
					if (l.kind !== 'points') continue;
					for (let i = 0; i < l.x.length; i++) {
						const d = Math.hypot(m.x(l.x[i]) - px, m.y(l.y[i]) - py);
						if (d < least) { least = d; best = {p, x: l.x[i], hits: [{l, i}]}; }
					}
					continue;
				}
				const i = this.nearestIndex(l, m.backX(px), (v) => Math.abs(m.x(v) - px)), d = Math.abs(m.x(l.x[i]) - px);
				if (d < least) { least = d; best = {p, x: l.x[i]}; }
			}
			if (best && !best.hits) best.hits = this.hits(p, best.x);
			return best;
		}

		point(cursor) {
			if (!cursor && !this.cursor) return;
			this.cursor = cursor;
			this.over();
			this.tip.hidden = !cursor;
			if (!cursor) return;
			const {p, x, hits} = cursor, spanX = p.view.x1 - p.view.x0, spanY = p.view.y1 - p.view.y0;
			const value = (v) => said(v, p.yLog ? 0 : spanY);
			const place = p.dates ? dated(x, p.dates) : said(x, p.xLog ? 0 : spanX);
			const lines = [make('div', {}, make('b', {}, place.startsWith(p.xLabel + ' ') ? place : `${p.xLabel}: ${place}`))]; // of a column week: "week of …"
			for (const {l, i} of hits) {
				const dot = make('i');
				dot.style.background = colour(l.colour);
				const text = l.lo ? `${value(l.lo[i])} to ${value(l.hi[i])}` : value(l.y[i]);
				lines.push(make('div', {}, dot, `${l.labels?.[i] ? `${l.name} ${l.labels[i]}` : l.name || p.yLabel}: ${text} `));
				if (l.yBars && Number.isFinite(l.yBars[2 * i])) lines.at(-1).append(`(${value(l.yBars[2 * i])} to ${value(l.yBars[2 * i + 1])}) `);
			}
			this.tip.replaceChildren(...lines);
			const {places, k, width, height} = this.geometry(), r = places.find((r) => this.panels[r.panel] === p), m = this.map(p, r);
			const left = m.x(x) * k, tip = this.tip.getBoundingClientRect();
			const top = (p.cloud ? m.y(hits[0].l.y[hits[0].i]) : r.y) * k + 8;
			this.tip.style.left = `${Math.max(0, left + 12 + tip.width > width ? left - 12 - tip.width : left + 12)}px`;
			this.tip.style.top = `${Math.max(0, Math.min(top, height - tip.height))}px`;
		}

		draw() {
			const {svg, places, bottom} = this.geometry();
			if (!svg || !this.panels) return;
			for (const e of svg.querySelectorAll('.gppl-zoom')) e.remove();
			let any = false;
			for (const r of places) {
				const p = this.panels[r.panel], is = p?.zoom && zoomed(p), again = is || p?.computed, parts = [...svg.querySelectorAll(`.gppl-t${r.panel}`)];
				any ||= is;
				for (const e of parts) e.style.visibility = again ? 'hidden' : '';
				if (again) svg.append(this.panel(p, r, grouped(parts), bottom));
			}
			if (this.reset) this.reset.disabled = !any;
			this.stageElement.classList.toggle('gppl-zoomed', any);
			this.over();
		}

		// What follows the pointer: the cross hair, rings around what is read off, the box that is being drawn.
		over() {
			const {svg, places} = this.geometry();
			if (!svg) return;
			svg.querySelector('.gppl-over')?.remove();
			const g = draw('g', {class: 'gppl-over', fill: 'none'}), d = this.drag, at = this.cursor, r = at && places.find((r) => this.panels[r.panel] === at.p);
			svg.append(g);
			if (r) {
				const m = this.map(at.p, r), x = m.x(at.x);
				if (x < r.x - 1 || x > r.x + r.w + 1) return;
				if (!at.p.cloud) g.append(draw('path', {d: `M${x},${r.y}v${r.h}`, style: `stroke:${colour('57606a')};stroke-width:0.7`}));
				for (const {l, i} of at.hits) {
					const y = l.y ? m.y(l.y[i]) : NaN;
					if (!(y >= r.y - 1 && y <= r.y + r.h + 1)) continue;
					g.append(draw('circle', {cx: m.x(l.x[i]), cy: y, r: at.p.cloud ? 6 : 3, style: `stroke:${colour(l.colour)};stroke-width:1.4;fill:${at.p.cloud ? 'none' : colour('ffffff')}`}));
				}
			}
			if (d?.to) g.append(draw('rect', {x: Math.min(d.x, d.to.x), y: Math.min(d.y, d.to.y), width: Math.abs(d.to.x - d.x), height: Math.abs(d.to.y - d.y), style: `fill:${colour('0072b2')};fill-opacity:0.15`}));
		}

		// A zoomed panel, of copies of its parts: those of each name are a list, of which the first shows the look.
		panel(p, r, parts, bottom) {
			const m = this.map(p, r), home = this.map(p, r, p.home), v = p.view;
			const across = (apart) => p.dates ? dateTicks(v.x0, v.x1, p.dates, Math.max(3, Math.round(r.w / (apart + 15)))) : ticks(v.x0, v.x1, p.xLog, Math.max(3, Math.round(r.w / apart)));
			const half = (text) => 2.6 * text.length, longest = 2 * Math.max(...across(75).map(([, text]) => half(text))); // points
			const xs = across(Math.max(75, longest + 12)), ys = ticks(v.y0, v.y1, p.yLog, Math.max(2, Math.round(r.h / 48)));
			const inside = draw('svg', {x: r.x, y: r.y, width: r.w, height: r.h, viewBox: `${r.x} ${r.y} ${r.w} ${r.h}`}), g = draw('g', {class: 'gppl-zoom'});
			const put = (to, name, shape) => parts.has(name) && to.append(like(parts.get(name)[0], shape));
			const lines = (x, y) => xs.map(([t]) => `M${m.x(t)},${x}`).join('') + ys.map(([t]) => `M${y(m.y(t))}`).join('');
			const first = p.layers.findIndex((l) => l.kind === 'line');
			put(g, 'grid', lines(`${r.y}v${r.h}`, (y) => `${r.x},${y}h${r.w}`));
			p.layers.forEach((l, k) => {
				if (k === first) for (const [j, {was}] of p.layers.entries()) if (was && parts.has(`${j}`)) { // as published: above bands, below lines
					const line = like(parts.get(`${j}`)[0], this.shape(was, p, r, m));
					Object.assign(line.style, {stroke: colour('8c959f'), strokeDasharray: 'none', strokeWidth: '1'});
					inside.append(line);
				}
				put(inside, `${k}`, this.shape(l, p, r, m));
				for (let i = 0; l.kind === 'points' && i < l.x.length; i++) {
					const move = `translate(${m.x(l.x[i]) - home.x(l.x[i])},${bottom + m.y(l.y[i]) - home.y(l.y[i])}) scale(1,-1)`;
					inside.append(draw('g', {transform: move}, ...(parts.get(`${k}.${i}`) ?? []).map((e) => like(e))));
				}
			});
			g.append(inside);
			put(g, 'tick', lines(`${r.y + r.h}v4`, (y) => `${r.x},${y}h-4`));
			const label = (e, text, attributes) => {
				const copy = dress(like(e), attributes, []);
				for (const a of ['textLength', 'transform']) copy.removeAttribute(a);
				copy.textContent = text;
				g.append(copy);
			};
			const below = parts.get('x')?.[0], left = parts.get('y') ?? [], number = (e, a) => Number(e.getAttribute(a));
			const edge = Math.max(...left.map((e) => number(e, 'x') + number(e, 'textLength'))); // an exponent is an element of its own
			if (below) for (const [t, text] of xs) if (m.x(t) + half(text) < r.x + r.w + 14) label(below, text, {x: m.x(t), y: bottom + number(below, 'y'), 'text-anchor': 'middle'});
			if (left.length) for (const [t, text] of ys) label(left[0], text, {x: edge, y: m.y(t), 'text-anchor': 'end', dy: '0.36em'});
			return g;
		}

		// The path of a layer, in points; of markers, their bars.
		shape(l, p, r, m) {
			let from = 0, to = l.x?.length ?? 0;
			if (l.ascends) { // what is in sight, and one on each side
				const first = (x) => { let a = 0, b = l.x.length; while (a < b) { const c = (a + b) >> 1; if (l.x[c] < x) a = c + 1; else b = c; } return a; };
				from = Math.max(0, first(p.view.x0) - 1);
				to = Math.min(l.x.length, first(p.view.x1) + 2);
			}
			const at = (x, y) => `${x.toFixed(2)},${y.toFixed(2)}`, parts = [];
			const each = (f) => { for (let i = from; i < to; i++) { const x = m.x(l.x[i]), y = m.y(l.y[i]); if (Number.isFinite(x + y)) parts.push(f(x, y, i)); } };
			switch (l.kind) {
			case 'line': this.trace(l, from, to, r, m, (x, y, on) => parts.push(`${on ? 'L' : 'M'}${at(x, y)}`)); break;
			case 'dots': each((x, y) => x > r.x - 3 && x < r.x + r.w + 3 && y > r.y - 3 && y < r.y + r.h + 3 ? `M${at(x, y)}z` : ''); break;
			case 'bars': each((_, y, i) => { const a = m.x(l.x[i] - l.width / 2) + 0.4, b = m.x(l.x[i] + l.width / 2) - 0.4; return `M${at(a, y)}L${at(b, y)}L${at(b, m.y(0))}L${at(a, m.y(0))}z`; }); break;
			case 'stems': each((x, y) => `M${at(x, m.y(0))}L${at(x, y)}`); break;
			case 'rule': return `M${at(r.x, m.y(l.y[0]))}h${r.w}`;
			case 'band': {
				let upper = [], lower = [];
				const flush = () => { if (upper.length > 1) parts.push(`M${[...upper, ...lower.reverse()].join('L')}z`); upper = []; lower = []; };
				const step = Math.max(1, Math.floor((to - from) / (4 * r.w)));
				for (let i = from; i < to; i += i + step < to ? step : 1) {
					const x = m.x(l.x[i]), a = m.y(l.hi[i]), b = m.y(l.lo[i]);
					if (!Number.isFinite(x + a + b)) { flush(); continue; }
					upper.push(at(x, a)); lower.push(at(x, b));
				}
				flush();
				break;
			}
			case 'errors': for (let i = from; i < to; i++) parts.push(`M${at(m.x(l.x[i]), m.y(l.lo[i]))}L${at(m.x(l.x[i]), m.y(l.hi[i]))}`); break;
			case 'span': {
				const [a, b] = [l.lo[0], l.hi[0]].map((v) => m.x(Math.min(Math.max(v, p.view.x0), p.view.x1)));
				return `M${at(a, r.y)}h${b - a}v${r.h}h${a - b}z`;
			}
			case 'points': each((x, y, i) => {
				const end = (of, bars, j, a, b) => of(Math.min(Math.max(bars[2 * i + j], a), b)), v = p.view;
				return (Number.isFinite(l.xBars[2 * i]) ? `M${at(end(m.x, l.xBars, 0, v.x0, v.x1), y)}L${at(end(m.x, l.xBars, 1, v.x0, v.x1), y)}` : '') +
					(Number.isFinite(l.yBars[2 * i]) ? `M${at(x, end(m.y, l.yBars, 0, v.y0, v.y1))}L${at(x, end(m.y, l.yBars, 1, v.y0, v.y1))}` : '');
			});
			}
			return parts.join('');
		}

		// The vertices of a line, and whether each continues the one before. A run of more of them than columns is drawn by its lowest
		// and highest in each column.
		trace(l, from, to, r, m, vertex) {
			const dense = to - from > 6 * r.w;
			let on = false, column = NaN, lo, hi, last;
			const put = ([x, y]) => { vertex(x, y, on); on = true; };
			const flush = () => { if (!Number.isNaN(column)) { put(lo); if (hi[1] !== lo[1]) put(hi); put(last); column = NaN; } };
			for (let i = from; i < to; i++) {
				const v = [m.x(l.x[i]), m.y(l.y[i])];
				if (!Number.isFinite(v[0] + v[1])) { flush(); on = false; continue; }
				if (!dense) { put(v); continue; }
				const c = Math.floor(2 * v[0]);
				if (c !== column) { flush(); column = c; lo = hi = v; }
				if (v[1] < lo[1]) lo = v;
				if (v[1] > hi[1]) hi = v;
				last = v;
			}
			flush();
		}

		vector() {
			const computed = this.panels?.some((p) => p?.computed), svg = (computed ? this.svg() : this.plot.querySelector('svg')).cloneNode(true); // what the page computed is saved
			for (const a of ['class', 'data-panels', 'style']) svg.removeAttribute(a);
			for (const e of svg.querySelectorAll(`${computed ? '[style*="visibility: hidden"]' : '.gppl-zoom'}, .gppl-over`)) e.remove();
			for (const e of svg.querySelectorAll('[data-part]')) { e.removeAttribute('class'); e.removeAttribute('data-part'); e.style.visibility = ''; }
			return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(svg).replace(/var\(--gppl-[0-9a-f]{6},\s*(#[0-9a-fA-F]{6})\)/g, '$1');
		}

		table() {
			const labels = (k) => { const all = new Set(this.panels.filter((p) => p).map((p) => p[k])); return all.size === 1 ? [...all][0] : ''; };
			const head = ['panel', 'series', `x${labels('xLabel') && `: ${labels('xLabel')}`}`, `y${labels('yLabel') && `: ${labels('yLabel')}`}`, 'y from', 'y to', 'x from', 'x to', 'label'];
			const rows = [], num = (v) => Number.isFinite(v) ? String(v) : '';
			for (const p of this.panels) {
				// A place on an axis of dates is its date, or its time, as files have it.
				const at = (v) => {
					const ms = p.dates && Number.isFinite(v) ? time(v, p.dates) + (p.dates.clock ? 0 : day / 2) : NaN;
					return Math.abs(ms) < 8e15 ? new Date(ms).toISOString().slice(0, p.dates.clock ? 19 : 10) : num(v);
				};
				for (const l of p?.layers ?? []) {
					const name = l.of ? `${l.name} (${(l.x ?? l.y).length} of ${l.of})` : l.name;
					const n = Math.max(l.x?.length ?? 0, l.y?.length ?? 0, l.lo?.length ?? 0);
					if (l.again) continue;
					for (let i = 0; i < n; i++) {
						const span = l.kind === 'span', bar = (k, j) => l[k] ? num(l[k][2 * i + j]) : '';
						rows.push([p.title, name, l.x ? at(l.x[i]) : '', l.y ? num(l.y[i]) : '', span ? '' : l.lo ? num(l.lo[i]) : bar('yBars', 0), span ? '' : l.hi ? num(l.hi[i]) : bar('yBars', 1),
							span ? at(l.lo[i]) : bar('xBars', 0), span ? at(l.hi[i]) : bar('xBars', 1), l.labels?.[i] ?? '']);
					}
				}
			}
			const used = head.map((_, j) => j < 4 && j > 0 || rows.some((r) => r[j] !== ''));
			// A text that a spreadsheet would read as a formula gets an apostrophe in front, as forecast.WriteCSV writes it.
			const plain = (s) => /^[ \ufeff]*[=+\-@\t\r\n＝＋－＠]/.test(s) && !Number.isFinite(Number(s)) ? `'${s}` : s;
			const quoted = (s) => /[",\r\n]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s;
			const cell = (s) => quoted(plain(s));
			return [head, ...rows].map((r) => r.filter((_, j) => used[j]).map(cell).join(',')).join('\r\n') + '\r\n';
		}

		save(extension, text, type) {
			const page = decodeURIComponent(location.pathname.split('/').pop()).replace(/\.(html|ipynb)$/, '');
			const a = make('a', {download: `${[page, this.figure.id || 'figure'].filter((s) => s).join('-')}.${extension}`, href: URL.createObjectURL(new Blob([text], {type}))});
			document.body.append(a);
			a.click();
			a.remove();
			setTimeout(() => URL.revokeObjectURL(a.href), 10000);
		}
	}

	const start = () => {
		if (!window.DecompressionStream) return; // the SVG is there
		for (const f of document.querySelectorAll('figure.gppl-figure:not([data-ready])')) {
			f.dataset.ready = '';
			f.gppl = new Figure(f);
		}
	};
	start();
	if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
	else if (document.querySelector('.jp-Notebook, .notebook-app, .jp-LabShell')) new MutationObserver(start).observe(document.body, {childList: true, subtree: true});
})();
