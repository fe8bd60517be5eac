// A search box for other sites; /v1/ of this server says how to use it. The server makes this
// file the body of a function of texts: messages of the box, language and direction.
"use strict";

const name = "bucket-search";
const script = document.currentScript;
const home = new URL(".", script.src).href; // address of the server
const pause = 200; // most milliseconds between the last change of the query and the request
const patience = 15000; // milliseconds until a request is given up

const style = new CSSStyleSheet();
style.replaceSync(`
  :host(:not([hidden])) { display: block; }
  .search {
    all: initial;
    display: block; position: relative; color-scheme: inherit; visibility: inherit;
    --text: var(--bucket-search-text, light-dark(#1f2430, #e4e7ee));
    --background: var(--bucket-search-background, light-dark(#fff, #1d212a));
    --accent: var(--bucket-search-accent, light-dark(#1748b5, #9dbdff));
    --faint: color-mix(in srgb, var(--text) 75%, var(--background));
    color: var(--text);
    font: medium/1.5 var(--bucket-search-font, system-ui, sans-serif);
    overflow-wrap: anywhere;
  }
  * { box-sizing: border-box; }
  [hidden] { display: none !important; }
  input, button, .panel {
    min-height: 2.75em;
    font: inherit; color: inherit; background: var(--background);
    border: 1px solid var(--faint); border-radius: var(--bucket-search-radius, 0.5em);
  }
  input { width: 100%; margin: 0; padding: 0 0.85em; }
  button { margin: 0 0.85em 0.75em; padding: 0 1em; cursor: pointer; }
  ::placeholder { color: var(--faint); opacity: 1; }
  :focus-visible, [aria-selected=true] { outline: 2px solid var(--accent); outline-offset: -2px; }
  .panel { position: absolute; z-index: 2147483647; inset-inline-start: 0; margin-top: 0.25em; width: max(100%, 36em); max-width: calc(100vw - 1em); overflow: hidden; }
  .closed { width: 1px; clip-path: inset(50%); }
  p { margin: 0; padding: 0.4em 0.97em; color: var(--faint); font-size: 0.875em; }
  p:empty { padding: 0; }
  #results { max-height: min(32em, 65vh); overflow-y: auto; overscroll-behavior: contain; }
  [role=option] { display: block; padding: 0.6em 0.85em; border-top: 1px solid color-mix(in srgb, var(--text) 18%, var(--background)); color: inherit; text-decoration: none; cursor: pointer; }
  [role=option]:hover, [aria-selected=true] { background: color-mix(in srgb, var(--accent) 14%, var(--background)); }
  span { display: block; font-size: 0.875em; }
  .title { color: var(--accent); font-size: 1em; font-weight: 500; }
  .address { color: var(--faint); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  mark { background: var(--bucket-search-mark, light-dark(#ffec99, #453a06)); color: inherit; font-weight: 600; }
`);

// make returns an element with properties, attributes and children. Attributes are role, part and names with
// a hyphen.
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (/-|^(role|part)$/.test(key)) element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children);
  return element;
}

// say returns a text in the language of the box, with a value for its placeholder in braces. Of plural
// forms, the number n chooses one.
function say(key, value, n) {
  let text = texts[key];
  if (text.other) text = text[new Intl.PluralRules(texts.language).select(n)] ?? text.other;
  return text.replace(/\{\w+\}/, () => value);
}

// marked returns a text as nodes. The marks are offsets of matches, which count code points.
function marked(text, marks) {
  const characters = [...text], nodes = [];
  let at = 0;
  for (const [from, to] of marks ?? []) {
    nodes.push(characters.slice(at, from).join(""), make("mark", {}, characters.slice(from, to).join("")));
    at = to;
  }
  return [...nodes, characters.slice(at).join("")];
}

// crumbs returns an address for display: host › part of the path › … A part with characters
// that are invisible or change the direction of text stays encoded.
function crumbs(address) {
  const { host, pathname } = new URL(address);
  return (host + pathname).split("/").filter(Boolean).flatMap((part, i) => {
    let shown = part;
    try { shown = decodeURIComponent(part); } catch { /* as it is */ }
    return [i ? " › " : "", make("bdi", {}, /(?! )[\p{C}\p{Z}]/u.test(shown) ? part : shown)];
  });
}

// entry returns an option of the list: a link if it has an address, href.
function entry(properties, ...children) {
  return make(properties.href ? "a" : "div", { role: "option", part: "result", "aria-selected": "false", tabIndex: -1, ...properties }, ...children);
}

class Box extends HTMLElement {
  #chosen = -1; // index of the option that the arrows have reached, or -1
  #request; // AbortController of the last request
  #timer;
  #pause = pause; // as long as the last answer took, from 50 ms
  #before; // element that had the focus before a shortcut moved it here
  #page; // AbortController of the listeners on the page

  connectedCallback() {
    if (!this.shadowRoot) this.#build();
    const { signal } = this.#page = new AbortController();
    document.addEventListener("keydown", (e) => this.#shortcut(e), { signal });
    document.addEventListener("pointerdown", (e) => { if (!e.composedPath().includes(this)) this.#close(); }, { signal });
  }

  disconnectedCallback() {
    this.#page.abort();
    this.#close();
  }

  #isClosed() { return this.panel.classList.contains("closed"); }

  #build() {
    const { placeholder, shortcuts } = this.dataset;
    this.input = make("input", {
      type: "search", placeholder: placeholder ?? say("search"), autocomplete: "off", autocapitalize: "none", spellcheck: false, enterKeyHint: "search", dir: "auto",
      part: "input", role: "combobox", "aria-label": say("search"), "aria-autocomplete": "list", "aria-expanded": "false",
      "aria-controls": "results", "aria-keyshortcuts": shortcuts === "off" ? "" : "/ Control+K Meta+K",
      oninput: (e) => { if (!e.isComposing) this.#later(); },
      onfocus: () => { if (this.#isClosed()) this.#later(); },
      onkeydown: (e) => this.#key(e),
    });
    this.input.addEventListener("compositionend", () => this.#later());
    this.status = make("p", { role: "status" });
    this.notes = make("p", { lang: "en", dir: "ltr" });
    this.retry = make("button", { type: "button", hidden: true, onclick: () => { this.input.focus(); this.#ask(); } }, say("try again"));
    this.list = make("div", {
      id: "results", role: "listbox", "aria-label": say("search"), hidden: true,
      onmousedown: (e) => e.preventDefault(), // the input keeps the focus
      onclick: (e) => { if (!(e.ctrlKey || e.metaKey || e.shiftKey)) this.#close(); },
    });
    this.panel = make("div", { className: "panel closed", part: "panel" }, this.status, this.notes, this.retry, this.list);
    const all = make("div", { className: "search", role: "search", lang: texts.language, dir: texts.direction }, this.input, this.panel);
    all.addEventListener("focusout", (e) => {
      if (all.contains(e.relatedTarget)) return;
      this.#before = null;
      if (e.relatedTarget) this.#close(); // not when a phone hides its keyboard
    });
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [style];
    root.append(all);
  }

  // open shows a sentence, notes in English and options. It keeps the panel within the window.
  #open(sentence, notes, options) {
    this.status.textContent = sentence;
    this.notes.textContent = notes;
    this.retry.hidden = true;
    this.list.replaceChildren(...options);
    options.forEach((option, i) => { option.id = "option" + i; });
    this.list.hidden = options.length === 0;
    this.input.setAttribute("aria-expanded", String(options.length > 0));
    this.#choose(-1);
    this.panel.classList.remove("closed");
    this.panel.style.translate = "";
    const { left, right } = this.panel.getBoundingClientRect();
    this.panel.style.translate = (Math.max(8 - left, 0) || Math.min(document.documentElement.clientWidth - 8 - right, 0)) + "px";
  }

  #close() {
    clearTimeout(this.#timer);
    this.#request?.abort();
    this.#request = null;
    this.panel.classList.add("closed");
    this.status.textContent = this.notes.textContent = "";
    this.retry.hidden = this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.#choose(-1);
  }

  #choose(i) {
    this.list.children[this.#chosen]?.setAttribute("aria-selected", "false");
    this.#chosen = i;
    const option = this.list.children[i];
    if (!option) return this.input.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", option.id);
  }

  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), this.#pause);
  }

  // address returns the address that asks a path of the server for the query and the filters.
  #address(path, more) {
    const { server = home, site, lang, collection } = this.dataset;
    const address = new URL(path, server);
    address.search = new URLSearchParams({ q: this.input.value.trim(), ...more });
    for (const [filter, values] of Object.entries({ site, lang, collection })) {
      for (const value of values?.split(/[\s,]+/).filter(Boolean) ?? []) address.searchParams.append(filter, value);
    }
    return address.href;
  }

  async #ask() {
    const query = this.input.value.trim();
    if (query.length < 2 && query < "\u0100") return this.#close(); // one letter finds too much, unless it is Chinese
    this.#request?.abort();
    const mine = this.#request = new AbortController();
    const late = setTimeout(() => mine.abort(), patience);
    const { key } = this.dataset;
    const began = Date.now();
    let sentence = say("unavailable");
    try {
      const answer = await fetch(this.#address("v1/search", { n: 8 }), { headers: key ? { "X-API-Key": key } : {}, signal: mine.signal });
      this.#pause = Math.min(Math.max(Date.now() - began, 50), pause);
      const found = await answer.json();
      if (mine !== this.#request) return;
      if (answer.ok) return this.#show(query, found);
      sentence = found.detail ?? sentence;
    } catch { /* the sentence says so */ } finally { clearTimeout(late); }
    if (mine !== this.#request) return; // there is a newer one
    this.#open(sentence, "", []);
    this.retry.hidden = false;
  }

  // show shows the answer to a query: what was probably meant, the results, and a link to all of them.
  #show(query, { total, total_exact: exact, did_you_mean: meant, notes = [], results = [] }) {
    const options = results.filter(({ url }) => /^https?:/.test(url)).map((hit) => this.#option(hit));
    const count = options.length;
    if (meant) {
      const onclick = (e) => {
        e.stopPropagation(); // the list stays open
        this.input.value = meant.query;
        this.#ask();
      };
      options.unshift(entry({ onclick }, `${say("did you mean")} `, make("bdi", { className: "title" }, meant.query)));
    }
    if (count) options.push(entry({ className: "title", href: this.#address("search") }, say("all results")));
    const sentence = count ? say("found", total.toLocaleString(texts.language) + (exact ? "" : "+"), total) : say("nothing found", `\u2068${query}\u2069`);
    this.#open(sentence, notes.join(" "), options);
  }

  // option returns the option for a result. It leads to the section of the snippet.
  #option({ url, title, snippet, section, lang, marks }) {
    const part = (className, ...nodes) => make("span", { className, dir: "auto" }, ...nodes);
    const option = entry({ href: section?.url ?? url, lang: lang ?? "" },
      part("title", ...marked(title || url, title ? marks?.title : [])), make("span", { className: "address", dir: "ltr" }, ...crumbs(url)));
    if (section && section.heading !== title) option.append(part("section", section.heading));
    if (snippet) option.append(part("snippet", ...marked(snippet, marks?.snippet)));
    return option;
  }

  #key(e) {
    if (e.isComposing) return;
    const n = this.list.hidden ? 0 : this.list.children.length;
    if (e.key === "ArrowDown" && n) this.#choose(this.#chosen + 1 < n ? this.#chosen + 1 : -1);
    else if (e.key === "ArrowDown") this.#ask();
    else if (e.key === "ArrowUp" && n) this.#choose(this.#chosen >= 0 ? this.#chosen - 1 : n - 1);
    else if (e.key === "Enter" && this.#chosen >= 0) this.list.children[this.#chosen].click();
    else if (e.key === "Enter" && this.input.value.trim()) location.assign(this.#address("search"));
    else if (e.key === "Escape" && (this.#before || !this.#isClosed())) {
      const before = this.#before;
      this.#close();
      if (before) this.input.blur(); // sets #before to null
      before?.focus();
    } else return;
    e.preventDefault();
  }

  // shortcut moves the focus here, unless the reader writes elsewhere.
  #shortcut(e) {
    const isSlash = e.key === "/" && !(e.ctrlKey || e.metaKey || e.altKey);
    const isK = e.key?.toLowerCase() === "k" && (e.ctrlKey || e.metaKey) && !(e.shiftKey || e.altKey);
    const at = e.composedPath()[0];
    if (!(isSlash || isK) || e.defaultPrevented || this.dataset.shortcuts === "off" || at.isContentEditable || at.closest?.("input, textarea, select")) return;
    e.preventDefault();
    this.#before = document.activeElement;
    this.input.focus();
    this.input.select();
  }
}

const { target } = script.dataset;

// place puts a box into the target, or where the script stands.
function place() {
  const box = document.createElement(name);
  Object.assign(box.dataset, { server: home }, script.dataset);
  const into = target && document.querySelector(target);
  if (into) into.append(box);
  else if (target) console.error("search.js: data-target finds no element", target);
  else if (document.head.contains(script)) document.body.prepend(box);
  else script.after(box);
}

const isFirst = !customElements.get(name);
if (isFirst) customElements.define(name, Box);
const start = () => { if (target || !isFirst || !document.querySelector(name)) place(); };
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
