// What the reader has set lives behind the # of the page's address: it survives a reload, and a copied address shows the same.
"use strict";

// What holds where the address says nothing: beside the list the first feature, where there is room beside it.
function preset() {
  const { epsilon, level } = report.settings;
  return { epsilon, level, factor: 1, query: "", sort: "mi", scale: "root", only: null, page: 0,
    selected: narrow.matches || !report.features.name.length ? null : 0 };
}

function recall(state) {
  const told = new URLSearchParams(location.hash.slice(1));
  const options = (id) => Array.from(place(id).options, (option) => option.value);
  const choices = { sort: options("sort"), scale: options("scale"), only: VERDICTS };
  Object.assign(state, preset());
  for (const name of Object.keys(NUMBERS)) {
    const value = Number(told.get(name) ?? NaN);
    if (told.get(name) && NUMBERS[name].allowed(value)) state[name] = value;
  }
  for (const [name, allowed] of Object.entries(choices)) if (allowed.includes(told.get(name))) state[name] = told.get(name);
  state.query = told.get("search") ?? "";
  state.page = Math.max(Math.trunc(Number(told.get("page"))) - 1 || 0, 0);
  const feature = report.features.name.indexOf(told.get("feature"));
  if (feature >= 0) state.selected = feature;
  else if (told.has("closed")) state.selected = null;
}

let waiting = null;

// Into the address, a moment after the last change: browsers refuse to be told too often.
function remember(state) {
  clearTimeout(waiting);
  waiting = setTimeout(write, 150, state);
}

function write(state) {
  const usual = preset(), told = new URLSearchParams();
  for (const name of ["epsilon", "level", "factor", "sort", "scale", "only"]) {
    if (state[name] !== usual[name] && state[name] !== null) told.set(name, state[name]);
  }
  if (state.query) told.set("search", state.query);
  if (state.page) told.set("page", state.page + 1);
  if (state.selected === null && usual.selected !== null) told.set("closed", "");
  else if (state.selected !== usual.selected) told.set("feature", report.features.name[state.selected]);
  const text = String(told);
  if (text === location.hash.slice(1)) return;
  try {
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  } catch { /* inside of another page the address may not be ours to change */ }
}
