// A control of a notebook, whose program draws a figure for every step that it is moved to. A step is sent until the program says that it has
// it: GoNB installs its connection anew when a busy page is slow to answer, and what is sent meanwhile is lost. So every sending takes the
// connection that there is. The program's word is the element that names the control (controlState).
(() => {
	const id = '{{ID}}', address = '{{ADDRESS}}', unanswered = 20000, again = 500;
	const input = document.getElementById(id), said = () => document.querySelector(`[data-gppl-control="${id}"]`);
	if (!input) return;
	let number = 0, sent = 0, since = Date.now(); // of the latest move, when it was sent, and since when nothing is owed
	const send = () => {
		const comm = globalThis.gonb_comm, message = `${number} ${input.value}`;
		sent = Date.now();
		comm?._is_connected?.then(() => comm.send(address, message), () => {});
	};
	const end = () => {
		clearInterval(timer);
		input.disabled = true;
	};
	for (const touch of ['input', 'focus', 'pointerenter']) input.addEventListener(touch, () => { number++; send(); });
	const timer = setInterval(() => {
		const word = said(), now = Date.now();
		if (!input.isConnected || word?.dataset.ended !== undefined) return end();
		const has = Number(word?.dataset.number ?? -1);
		if (has >= number) {
			number = has; // of a page that was opened again
			since = now;
			input.disabled = false;
		} else if (now - since > unanswered) {
			end();
			if (word) word.textContent = 'The program of this control does not answer any more: run its cell again to move it.';
		} else if (now - sent > again) send();
	}, 100);
	send();
})();
