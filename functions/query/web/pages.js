// The page works without this script. It adds: results and suggestions while you type, the key / that
// moves to the box, and the arrows that move through results and suggestions.
"use strict";

const form = document.querySelector("form[role=search]");
const box = document.getElementById("q");
const least = 50, most = 200; // limits of the milliseconds between the last change of the query and the request

// Asker asks for one thing at a time, once the reader has stopped typing for a pause. The pause is as long as the
// last answer took: a server that is near answers every key, one that is far is asked less often.
class Asker {
  #last;
  #timer;
  #pause = most;

  // later calls a function after the pause, unless later or stop is called again before.
  later(what) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(what, this.#pause);
  }

  // stop gives up what is waiting and what was asked: its answer would be to an older query.
  stop() {
    clearTimeout(this.#timer);
    this.#last?.abort();
  }

  // fetch fetches an address, and gives up all before it.
  async fetch(address, accept) {
    this.stop();
    this.#last = new AbortController();
    const began = performance.now();
    const answer = await fetch(address, { headers: { Accept: accept }, signal: this.#last.signal });
    this.#pause = Math.min(Math.max(performance.now() - began, least), most);
    return answer;
  }
}

if (box) {
  typing();
  keys();
  if (box.dataset.suggest) suggestions(box.dataset.suggest);
}

// typing shows results while the reader types. The address follows, so that it can be shared. A query that is
// sent stays in the history, and of those that are only typed after it the last one.
function typing() {
  const asker = new Asker();
  let shown = box.value.trim(), stepped = false;

  async function show(sent) {
    asker.stop();
    const query = box.value.trim();
    if (!query || (query === shown && !sent)) return;
    if (!sent && query.length < 2 && query < "\u0100") return; // one letter finds too much; one character of Chinese does not
    const address = form.action + "?" + new URLSearchParams(new FormData(form));
    try {
      const answer = await asker.fetch(address, "text/html");
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const main = page.querySelector("main");
      if (!main) throw new Error("no page");
      const old = document.querySelector("main"), inside = old.contains(document.activeElement);
      old.replaceWith(main);
      if (inside) box.focus();
      document.body.className = page.body.className;
      document.title = page.title;
      history[(stepped && !sent) || address === location.href ? "replaceState" : "pushState"](null, "", address);
      stepped = !sent;
      shown = query;
      document.getElementById("said").textContent = (main.querySelector(".total") ?? main.querySelector("h1")).textContent;
      help();
    } catch (error) {
      if (error.name !== "AbortError" && sent) location.assign(address);
    }
  }

  const later = () => asker.later(() => show(false));
  // A judge's marks are in the list, and would be lost.
  box.addEventListener("input", (e) => { if (!e.isComposing && !document.getElementById("marks")) later(); });
  box.addEventListener("compositionend", () => { if (!document.getElementById("marks")) later(); });
  form.addEventListener("submit", (e) => {
    if (document.getElementById("marks") || !box.value.trim()) return;
    e.preventDefault();
    show(true);
  });
  addEventListener("popstate", () => location.reload());
}

// shortcut tells whether the key / moves to the box; the reader can turn it off in the help.
function shortcut() {
  try { return localStorage.getItem("shortcut") !== "off"; } catch { return true; }
}

// help shows the switch of the shortcut, where the page has one.
function help() {
  const line = document.querySelector(".keys"), choice = document.getElementById("shortcut");
  if (!choice) return;
  line.hidden = false;
  choice.checked = shortcut();
  choice.addEventListener("change", () => {
    try { localStorage.setItem("shortcut", choice.checked ? "on" : "off"); } catch { /* it holds for this page */ }
  });
}

function keys() {
  help();
  const links = () => [...document.querySelectorAll(".hits h2 a")];
  document.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
    const at = document.activeElement;
    if (e.key === "/" && shortcut() && !at.closest("input, select, textarea")) {
      e.preventDefault();
      box.focus();
      box.select();
      return;
    }
    const all = links(), here = all.indexOf(at);
    if (here < 0 && at !== box) return;
    let to;
    if (e.key === "ArrowDown") to = all[here + 1]; // from the box to the first
    else if (e.key === "ArrowUp" && here >= 0) to = all[here - 1] ?? box;
    else if (e.key === "Escape" && here >= 0) to = box;
    if (!to) return;
    e.preventDefault();
    to.focus();
  });
}

// suggestions makes the box a combobox with a list of suggested queries and pages:
// https://www.w3.org/WAI/ARIA/apg/patterns/combobox/
function suggestions(path) {
  const asker = new Asker();
  const list = document.createElement("ul");
  list.id = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", box.dataset.label);
  box.after(list);
  for (const [name, value] of [["role", "combobox"], ["aria-controls", list.id], ["aria-expanded", "false"], ["aria-autocomplete", "list"]]) {
    box.setAttribute(name, value);
  }
  let chosen = -1, typed = box.value;

  function open(all) {
    list.replaceChildren(...all.map(({ text, url }, i) => {
      const option = document.createElement("li");
      option.id = "suggestion" + i;
      option.setAttribute("role", "option");
      option.dir = "auto";
      option.textContent = option.dataset.text = text;
      if (/^https?:/.test(url ?? "")) {
        option.dataset.url = url;
        option.append(Object.assign(document.createElement("span"), { className: "address", dir: "ltr", textContent: url }));
      }
      return option;
    }));
    list.hidden = all.length === 0;
    box.setAttribute("aria-expanded", String(!list.hidden));
    chosen = -1;
    box.removeAttribute("aria-activedescendant");
  }

  // close closes the list, and gives up suggestions that would open it again.
  function close() {
    asker.stop();
    open([]);
  }

  function choose(i) {
    const options = [...list.children];
    options[chosen]?.removeAttribute("aria-selected");
    chosen = i;
    const option = options[i];
    box.value = option ? option.dataset.text : typed;
    if (!option) { box.removeAttribute("aria-activedescendant"); return; }
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", option.id);
  }

  const later = () => asker.later(async () => {
    const query = box.value.trim();
    if (!query) return close();
    const wanted = [...new FormData(form)].filter(([name]) => ["q", "site", "lang", "collection"].includes(name));
    try {
      const answer = await asker.fetch(path + "?" + new URLSearchParams(wanted), "application/json");
      const { suggestions = [] } = answer.ok ? await answer.json() : {};
      if (document.activeElement === box && box.value.trim() === query) open(suggestions);
    } catch { /* the results come without suggestions */ }
  });

  // take goes to the page that an option names, or searches for its text.
  function take(option) {
    const { text, url } = option.dataset;
    close();
    if (url) { location.assign(url); return; }
    box.value = typed = text;
    form.requestSubmit();
  }

  box.addEventListener("input", (e) => { typed = box.value; if (!e.isComposing) later(); });
  box.addEventListener("compositionend", later);
  box.addEventListener("blur", () => close());
  form.addEventListener("submit", () => close());
  list.addEventListener("pointerdown", (e) => {
    e.preventDefault(); // the box keeps the focus
    const option = e.target.closest("li");
    if (option) take(option);
  });
  box.addEventListener("keydown", (e) => {
    if (list.hidden || e.isComposing) return;
    const n = list.children.length;
    if (e.key === "ArrowDown") choose(chosen + 1 < n ? chosen + 1 : -1);
    else if (e.key === "ArrowUp") choose(chosen >= 0 ? chosen - 1 : n - 1);
    else if (e.key === "Escape") { choose(-1); close(); }
    else if (e.key === "Enter" && chosen >= 0) take(list.children[chosen]);
    else return;
    e.preventDefault();
  });
}
