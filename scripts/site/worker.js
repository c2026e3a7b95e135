// From disk a browser starts no Worker: the search of the site then runs in a hidden frame, which gets and sends copies of the same messages.
if (location.protocol === "file:") {
	window.Worker = class {
		constructor(url) {
			const frame = document.createElement("iframe");
			frame.hidden = true;
			document.body.append(frame);
			const inside = frame.contentWindow, script = inside.document.createElement("script");
			inside.postMessage = data => setTimeout(() => this.onmessage?.(new MessageEvent("message", { data: structuredClone(data) })));
			const ready = new Promise((done, failed) => { script.onload = done; script.onerror = failed; });
			ready.catch(() => this.onerror?.(new ErrorEvent("error")));
			script.src = url;
			inside.document.body.append(script);
			this.postMessage = data => ready.then(() => inside.dispatchEvent(new MessageEvent("message", { data: inside.structuredClone(data) })));
			this.terminate = () => frame.remove();
		}
	};
}
