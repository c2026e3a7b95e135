// Figures that a page computes again where their reader moves a control (see Figure.LiveHTML). The program is in the page, compressed, and
// runs in a worker that starts when a reader first comes near. It answers with numbers (pkg/viz/live), which take the place of those
// of the layers; page.js draws them with the looks of the figure. Without any of this the figure stays as it was published.
(() => {
	const source = document.getElementById('gppl-worker'), program = document.getElementById('gppl-program');
	if (!source || !program || !window.DecompressionStream || !window.WebAssembly || !window.Worker) return;
	const make = (tag, attributes = {}, ...children) => {
		const e = document.createElement(tag);
		for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
		e.append(...children);
		return e;
	};
	const minus = (s) => s.replace(/-/g, '−');
	const exactly = (v, digits) => minus(v.toFixed(digits).replace(/^-(?=[0.]*$)/, ''));
	const short = (v) => minus(String(+v.toPrecision(4)));
	const withUnit = (text, unit) => unit ? `${text}\u00a0${unit}` : text;

	// A worker with the program, which answers one message at a time, in their order.
	class Program {
		constructor() {
			const url = URL.createObjectURL(new Blob([source.textContent], {type: 'text/javascript'}));
			this.worker = new Worker(url);
			this.waiting = [];
			this.worker.onmessage = ({data}) => { this.waiting.shift().resolve(JSON.parse(data)); };
			this.worker.onerror = (e) => {
				for (const w of this.waiting.splice(0)) w.reject(new Error(e.message || 'the program does not start'));
			};
			this.worker.postMessage({program: program.textContent});
		}

		ask(message) {
			return new Promise((resolve, reject) => {
				this.waiting.push({resolve, reject});
				this.worker.postMessage({text: JSON.stringify(message)});
			}).then((answer) => {
				if (answer.error) throw new Error(answer.error);
				return answer;
			});
		}
	}

	class Live {
		constructor(figure) {
			this.figure = figure;
			this.unpacked = new Response(new Blob([Uint8Array.from(atob(figure.dataset.live), (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
			this.unpacked.then((live) => this.controls(live.controls, live.look));
		}

		controls(controls, look) {
			const name = this.figure.gppl.name, id = `${this.figure.id || 'figure'}-compute`;
			this.sliders = controls.map((c, i) => {
				const value = make('output', {for: `${id}-${i}`});
				const input = c.labels ? make('select', {id: `${id}-${i}`}, ...c.labels.map((text, j) => make('option', {value: j}, text)))
					: make('input', {type: 'range', id: `${id}-${i}`, min: 0, max: c.values.length - 1, step: 1, value: c.start});
				if (c.labels) input.value = c.start;
				input.addEventListener('input', () => { this.say(i); this.move(); });
				return {...c, input, value};
			});
			this.state = make('p', {class: 'gppl-state', role: 'status'}, 'Move a control: this page then computes the figure again, without a network.');
			this.readings = make('dl', {class: 'gppl-readings'});
			this.verdict = make('div', {role: 'status'});
			const button = (text, action) => {
				const b = make('button', {type: 'button'}, text);
				b.addEventListener('click', action);
				return b;
			};
			this.reset = button('As published', () => this.publish());
			this.reset.disabled = true;
			this.verifier = button('Verify', () => this.verify());
			const box = make('div', {class: 'gppl-compute', role: 'group', 'aria-label': `Compute the figure again: ${name}`},
				make('p', {}, `Look for ${look}`),
				make('div', {class: 'gppl-sliders'}, ...this.sliders.map((s) => make('div', {}, make('label', {for: s.input.id}, s.name), ...(s.labels ? [] : [s.value]), s.input))),
				make('div', {class: 'gppl-tools'}, this.reset, this.verifier), this.state, this.readings, this.verdict);
			this.sliders.forEach((_, i) => this.say(i));
			this.figure.append(box);
			// The program starts when the figure is less than a screen away, so that it is there when a reader has found what to move; else with
			// the first touch.
			const near = new IntersectionObserver((entries) => {
				if (!entries.some((e) => e.isIntersecting)) return;
				near.disconnect();
				this.open().then(() => { if (!this.busy) return this.baseline(); }).catch((error) => this.fail(error));
			}, {rootMargin: '100% 0px'});
			near.observe(this.figure);
		}

		say(i) {
			const s = this.sliders[i];
			if (s.labels) return;
			const text = withUnit(short(s.values[s.input.value]), s.unit);
			s.value.textContent = text;
			s.input.setAttribute('aria-valuetext', text);
		}

		// Starts the program, once.
		open() {
			return this.opening ??= this.unpacked.then(async (live) => {
				this.program = new Program();
				await Promise.all([this.program.ask(live.figure), this.figure.gppl.load()]);
				this.home = this.figure.gppl.panels.map((p) => p && {...p.home});
				this.layers = this.figure.gppl.panels.map((p) => p && p.layers.map((l) => ({...l})));
			});
		}

		// Computes the numbers at the published values, to stand beside those that a reader makes: as soon as the program is there, which also
		// has it compiled, unless a reader waits for an answer.
		baseline() {
			return this.computing ??= this.program.ask({values: this.sliders.map((s) => s.values[s.start])}).then(({shown}) => {
				this.published = shown.readings;
				if (!this.reset.disabled) this.read();
			});
		}

		values() { return this.sliders.map((s) => s.values[s.input.value]); }
		isPublished() { return this.sliders.every((s) => Number(s.input.value) === s.start); }

		// Computes what the controls say. While it does, a reader may move on: then only the last position counts.
		async move() {
			this.moved = true;
			if (this.busy) return;
			this.busy = true;
			this.figure.dataset.computing = '';
			try {
				if (!this.program) this.state.textContent = 'Starting the program …';
				await this.open();
				while (this.moved) {
					this.moved = false;
					const began = performance.now(), {shown} = await this.program.ask({values: this.values()}), took = performance.now() - began;
					this.show(shown);
					this.state.textContent = `Computed in this page in ${Math.round(took)} ms, by ${shown.by}.${this.isPublished() ? '' : ' Grey lines: as published.'}`;
				}
				await this.baseline();
			} catch (error) {
				this.fail(error);
			} finally {
				this.busy = false;
				delete this.figure.dataset.computing;
			}
		}

		fail(error) {
			this.moved = false;
			this.state.textContent = `Not computed: ${error.message}`;
		}

		show(shown) {
			const panels = this.figure.gppl.panels;
			for (const layer of shown.layers) {
				for (const [i, p] of panels.entries()) {
					const at = p?.layers.findIndex((l) => l.kind === layer.kind && l.name === layer.name) ?? -1, l = p?.layers[at];
					if (!l) continue;
					if (l.kind === 'line' && !this.isPublished()) l.was = this.layers[i][at];
					else delete l.was;
					for (const k of ['x', 'y', 'lo', 'hi']) if (layer[k]) l[k] = Float64Array.from(layer[k]);
					p.computed = true;
				}
			}
			panels.forEach((p, i) => { if (p?.computed) this.fit(p, this.home[i]); });
			this.now = shown.readings;
			this.read();
			this.draw();
			if (this.isPublished()) this.entitle();
			else this.entitle(shown.title, shown.caption);
		}

		// The ranges are those of the published figure, and as much more as the numbers need.
		fit(p, home) {
			let lo = home.y0, hi = home.y1, {x0, x1} = home;
			for (const l of p.layers) {
				if (l.kind === 'span') continue;
				for (const v of l.x ?? []) if (Number.isFinite(v) && (!p.xLog || v > 0)) { x0 = Math.min(x0, v); x1 = Math.max(x1, v); }
				for (const values of [l.y, l.lo, l.hi]) for (const v of values ?? []) if (Number.isFinite(v) && (!p.yLog || v > 0)) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
			}
			const whole = ['x0', 'x1', 'y0', 'y1'].every((k) => p.view[k] === p.home[k]);
			p.home = {x0, x1, y0: lo, y1: hi};
			if (whole) p.view = {...p.home};
		}

		// Title and caption of what the controls say, or those that were published. The title has the lines that it had, in smaller letters if it
		// is too long for these.
		entitle(title, caption) {
			const said = this.figure.querySelector('figcaption');
			if (said) {
				this.caption ??= [...said.childNodes];
				said.replaceChildren(...(caption ? [...this.caption.filter((n) => n.nodeType === Node.ELEMENT_NODE && n.className === 'number'), ` ${caption}`] : this.caption));
			}
			for (const svg of this.figure.querySelectorAll('.gppl-plot > svg')) {
				const lines = [...svg.querySelectorAll('text[data-part="title"]')];
				svg.dataset.alt ??= svg.getAttribute('aria-label');
				svg.setAttribute('aria-label', title ? `${title}. ${caption}` : svg.dataset.alt);
				for (const e of svg.querySelectorAll('.gppl-now')) e.remove();
				for (const e of lines) e.style.visibility = title ? 'hidden' : '';
				if (!title || !lines.length) continue;
				const number = (e, a) => Number(e.getAttribute(a)), letters = lines.reduce((n, e) => n + e.textContent.length, 0);
				const letter = lines.reduce((w, e) => w + number(e, 'textLength'), 0) / letters, room = svg.viewBox.baseVal.width - 2 * number(lines[0], 'x');
				const broken = (width) => title.split(' ').reduce((rows, word) => {
					const longer = `${rows.at(-1)} ${word}`.trim();
					return longer.length * letter > width ? [...rows, word] : [...rows.slice(0, -1), longer];
				}, ['']);
				let small = 1;
				while (broken(room / small).length > lines.length && small > 0.5) small -= 0.05;
				broken(room / small).forEach((text, i) => {
					const e = lines[Math.min(i, lines.length - 1)].cloneNode();
					for (const a of ['textLength', 'data-part', 'class']) e.removeAttribute(a);
					e.setAttribute('class', 'gppl-now');
					e.style.visibility = '';
					e.style.fontSize = `${parseFloat(e.style.fontSize) * small}px`;
					e.textContent = text;
					lines[0].parentNode.append(e);
				});
			}
		}

		draw() {
			const f = this.figure.gppl;
			for (const p of f.panels) if (p) delete p.stops;
			f.point(null);
			f.draw();
			this.reset.disabled = this.isPublished();
		}

		read() {
			this.readings.replaceChildren(...this.now.flatMap((r) => {
				const value = exactly(r.value, r.digits), then = this.published?.find((p) => p.name === r.name), was = then && exactly(then.value, r.digits);
				return [make('dt', {}, r.name), make('dd', {}, withUnit(value, r.unit)), make('dd', {}, was === undefined ? '' : was === value ? 'as published' : `published: ${was}`)];
			}));
		}

		// Back to the figure as it was published, its own drawing included.
		publish() {
			this.moved = false;
			for (const [i, s] of this.sliders.entries()) { s.input.value = s.start; this.say(i); }
			this.figure.gppl.panels.forEach((p, i) => {
				if (!p) return;
				p.layers.forEach((l, j) => { delete l.was; Object.assign(l, this.layers[i][j]); });
				p.computed = false;
				p.home = {...this.home[i]};
				p.view = {...p.home};
			});
			this.readings.replaceChildren();
			this.verdict.replaceChildren();
			this.state.textContent = 'The figure as it was published.';
			this.draw();
			this.entitle();
			this.sliders[0].input.focus();
		}

		async verify() {
			this.verifier.disabled = true;
			this.verdict.textContent = 'Computing the published numbers again …';
			try {
				await this.open();
				const {checks} = await this.program.ask({verify: true});
				const names = [...new Set(checks.map((c) => c.name))], all = checks.every((c) => c.agrees), ways = [...new Set(checks.map((c) => c.by))];
				const said = names.map((name) => {
					const of = checks.filter((c) => c.name === name), digits = (v) => minus(String(+v.toPrecision(12)));
					return make('li', {}, `${of.every((c) => c.agrees) ? '✓' : '✗'} ${name}: published ${withUnit(digits(of[0].published), of[0].unit)}; ` +
						of.map((c) => `${digits(c.found)} by ${c.by} (differs by ${minus(Math.abs(c.found - c.published).toPrecision(1))})`).join(', ') + '.');
				});
				this.verdict.replaceChildren(
					make('p', {}, all ? `The published numbers are confirmed: this page computed them again ${ways.length > 1 ? `in different ways, by ${ways.slice(0, -1).join(', ')} and ${ways.at(-1)}` : `by ${ways[0]}`}.`
						: 'The published numbers are NOT confirmed by what this page computes.'),
					make('ul', {class: 'gppl-verdict'}, ...said));
			} catch (error) {
				this.verdict.textContent = `Not verified: ${error.message}`;
			} finally {
				this.verifier.disabled = false;
			}
		}
	}

	for (const figure of document.querySelectorAll('figure[data-live]')) if (figure.gppl) figure.gppl.compute = new Live(figure);
})();
