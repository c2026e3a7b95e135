// Code that can be copied, tables that say that they scroll, and a ledger that is folded. A page is whole without it.
(() => {
	for (const code of document.querySelectorAll('.cell details .highlight')) {
		const button = document.createElement('button');
		button.type = 'button';
		button.className = 'copy';
		button.textContent = 'Copy';
		button.addEventListener('click', async () => {
			const text = code.querySelector('pre').innerText;
			try {
				await navigator.clipboard.writeText(text);
			} catch { // a page opened as a file has no clipboard in some browsers
				const area = document.createElement('textarea');
				area.value = text;
				code.append(area);
				area.select();
				document.execCommand('copy');
				area.remove();
			}
			button.textContent = 'Copied';
			setTimeout(() => { button.textContent = 'Copy'; }, 2000);
		});
		code.prepend(button);
	}
	const look = (box) => {
		const over = box.scrollWidth - box.clientWidth;
		box.parentElement.classList.toggle('more-left', over > 1 && box.scrollLeft > 1);
		box.parentElement.classList.toggle('more-right', over > 1 && box.scrollLeft < over - 1);
		box.parentElement.classList.toggle('scrolls', over > 1);
		if (over > 1) box.tabIndex = 0;
		else box.removeAttribute('tabindex');
	};
	for (const box of document.querySelectorAll('.sideways')) {
		box.addEventListener('scroll', () => look(box), {passive: true});
		new ResizeObserver(() => look(box)).observe(box);
	}
	// What scrolls can be scrolled by keys, and what does not is no stop on the way of the tab key.
	const scrollers = new ResizeObserver((seen) => seen.forEach(({target: e}) => {
		if (e.scrollWidth > e.clientWidth + 1) e.setAttribute('tabindex', '0');
		else e.removeAttribute('tabindex');
	}));
	for (const e of document.querySelectorAll('pre, math[display="block"]')) scrollers.observe(e);
	// A link to a row of the ledger opens its group, a choice of verdict all groups, and so does paper.
	const groups = [...document.querySelectorAll('details.group')];
	const reveal = () => document.getElementById(location.hash.slice(1))?.closest('details.group')?.setAttribute('open', '');
	const openAll = () => groups.forEach((g) => { g.open = true; });
	if (groups.length) {
		addEventListener('hashchange', reveal);
		addEventListener('beforeprint', () => { openAll(); document.querySelectorAll('details.fold').forEach((d) => { d.open = true; }); });
		document.querySelector('form.filter')?.addEventListener('change', (e) => { if (e.target.id !== 'show-all') openAll(); });
		reveal();
	}
	// The contents follow the reader.
	const links = [...document.querySelectorAll('.toc a')];
	const heads = links.map((a) => document.getElementById(a.hash.slice(1)) ?? document.getElementById(decodeURIComponent(a.hash.slice(1))));
	const mark = () => {
		let at = -1;
		heads.forEach((h, i) => { if (h && h.getBoundingClientRect().top < 120) at = i; });
		links.forEach((a, i) => { if (i === at) a.setAttribute('aria-current', 'true'); else a.removeAttribute('aria-current'); });
	};
	addEventListener('scroll', mark, {passive: true});
	mark();
	const toc = document.querySelector('.toc details');
	const wide = matchMedia('(min-width: 75rem)');
	const folds = [...document.querySelectorAll('details.fold')];
	const fold = () => {
		if (toc) toc.open = wide.matches;
		folds.forEach((d) => { d.open = wide.matches; });
	};
	wide.addEventListener('change', fold);
	fold();
})();
