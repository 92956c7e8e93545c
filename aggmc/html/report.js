"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const el = (id) => document.getElementById(id);
  const make = (tag, text, className) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (className) node.className = className;
    return node;
  };
  const steps = data.steps.length;
  const lasso = data.loop !== null;
  // after so many steps, which of the states it is
  const position = (n) => (lasso && n === steps ? data.loop : n);
  let now = 0;
  let timer = null;

  const flips = (n) => {
    if (n === 0) return Object.keys(data.propositions).filter((p) => data.propositions[p][0]).map((p) => "+" + p);
    return Object.keys(data.propositions)
      .filter((p) => data.propositions[p][position(n)] !== data.propositions[p][n - 1])
      .map((p) => (data.propositions[p][position(n)] ? "+" : "-") + p);
  };

  // --- the list of steps, with lanes -----------------------------------------------------------------------------
  const rows = [];
  const wide = []; // cells over several columns, and over how many beside the lanes
  const buildSteps = () => {
    const head = make("tr");
    head.append(make("th", ""), make("th", "event", "event"));
    for (const name of data.lanes) head.append(make("th", name, "lane"));
    head.append(make("th", ""));
    document.querySelector("#steps thead").append(head);
    const body = document.querySelector("#steps tbody");
    const rule = (text) => {
      const row = make("tr", undefined, "rule");
      const cell = make("td", text);
      wide.push([cell, 2]);
      row.append(cell);
      body.append(row);
    };
    for (let n = 0; n <= steps; n++) {
      if (lasso && n === data.loop + 1) rule("for ever:");
      const step = n ? data.steps[n - 1] : null;
      const row = make("tr");
      row.dataset.step = n;
      row.append(make("td", String(n), "number"));
      if (step) {
        row.title = step.text;
        row.append(make("td", step.text, "event"));
        for (const lane of data.lanes) {
          const here = step.cells[lane];
          row.append(make("td", here === undefined ? "\u00b7" : here, here === undefined ? "lane idle" : "lane moves"));
        }
        if (lasso && n > data.loop) row.classList.add("cycle");
        if (data.bad !== null && n > data.bad) row.classList.add("later");
      } else {
        const cell = make("td", "initially");
        wide.push([cell, 0]);
        row.append(cell);
      }
      row.append(make("td", flips(n).join(" "), "flips"));
      row.addEventListener("click", () => go(n));
      body.append(row);
      rows.push(row);
      if (data.bad !== null && n === data.bad && n < steps) rule("violated here, whatever follows");
    }
  };

  // --- the source ------------------------------------------------------------------------------------------------
  const WORDS = new RegExp("\\b(process|state|init|trans|guard|effect|sync|commit|accept|assert|system|async|byte|int|" +
    "const|channel|and|or|not|imply|true|false)\\b", "g");
  const paint = (item, text) => {
    const comment = text.indexOf("//");
    const code = comment < 0 ? text : text.slice(0, comment);
    let last = 0;
    for (const match of code.matchAll(WORDS)) {
      item.append(make("span", code.slice(last, match.index)), make("span", match[0], "word"));
      last = match.index + match[0].length;
    }
    item.append(make("span", code.slice(last)));
    if (comment >= 0) item.append(make("span", text.slice(comment), "comment"));
  };
  const lines = [];
  const buildSource = () => {
    if (!data.source.length) {
      el("source").hidden = true;
      return;
    }
    const list = document.querySelector("#source ol");
    for (const text of data.source) {
      const item = make("li");
      paint(item, text);
      list.append(item);
      lines.push(item);
    }
  };

  // --- the formula -----------------------------------------------------------------------------------------------
  const parts = [];
  const buildFormula = () => {
    const body = document.querySelector("#formula tbody");
    const listed = data.parts.length ? data.parts : Object.entries(data.propositions).map(([p, v]) => [p, 0, v]);
    if (!listed.length) el("formula").hidden = true;
    for (const [text, depth, values] of listed) {
      const row = make("tr");
      const value = make("td");
      row.append(make("td", "  ".repeat(depth) + text, "part"), value);
      body.append(row);
      parts.push([value, values]);
    }
    for (const [text, value, at, depth] of data.why) {
      const where = at === 0 ? "initially" : "after step " + at;
      const item = make("li", "\u00a0\u00a0".repeat(depth) + text + (value ? "  holds " : "  fails ") + where);
      item.addEventListener("click", () => go(at));
      el("why").append(item);
    }
  };

  // --- where we are ----------------------------------------------------------------------------------------------
  const into = (node, box) => {
    if (!node || !box) return;
    const a = node.getBoundingClientRect();
    if (!a.width) return; // it is hidden
    const b = box.getBoundingClientRect();
    if (a.top < b.top + 24 || a.bottom > b.bottom) box.scrollTop += a.top - b.top - b.height / 2;
    if (a.left < b.left || (a.right > b.right && a.width < b.width)) box.scrollLeft += a.left - b.left - b.width / 2;
  };
  const showState = () => {
    const body = document.querySelector("#state tbody");
    const state = data.states[position(now)];
    const before = now ? data.states[now - 1] : null;
    const hide = el("hide").checked;
    let first = null;
    body.replaceChildren();
    data.variables.forEach((name, i) => {
      const changed = before !== null && before[i] !== state[i];
      if (hide && before !== null && !changed) return;
      const row = make("tr", undefined, changed ? "changed" : "");
      const value = make("td", undefined, "value");
      if (changed) value.append(make("span", String(before[i]), "old"), " ");
      value.append(make("span", String(state[i]), "new"));
      row.append(make("td", name), value);
      body.append(row);
      if (changed && first === null) first = row;
    });
    into(first, document.querySelector("#state .scroll"));
  };
  const light = (id, nodes) => {
    const panel = el(id);
    if (!panel) return;
    for (const node of panel.querySelectorAll(".now")) node.classList.remove("now");
    for (const name of nodes || []) {
      const node = panel.querySelector('[data-node="' + name + '"]');
      if (node) {
        node.classList.add("now");
        into(node, panel.querySelector(".scroll"));
      }
    }
  };
  const show = () => {
    const at = position(now);
    rows.forEach((row, n) => row.classList.toggle("now", n === now));
    into(rows[now], document.querySelector("#steps .scroll"));
    into(rows[now].querySelector(".moves"), document.querySelector("#steps .scroll"));
    for (const line of lines) line.classList.remove("now");
    const fired = now ? data.steps[now - 1].lines : [];
    for (const number of fired) if (lines[number - 1]) lines[number - 1].classList.add("now");
    if (fired.length) into(lines[fired[0] - 1], document.querySelector("#source .scroll"));
    for (const [cell, values] of parts) {
      cell.textContent = values[at] ? "true" : "false";
      cell.className = values[at] ? "true" : "false";
    }
    showState();
    light("automaton", data.automaton[at]);
    light("graph", data.graph[at]);
    el("where").textContent = now === 0 ? "initially (0 of " + steps + ")" : "after step " + now + " of " + steps;
    el("slider").value = now;
    history.replaceState(null, "", "#" + now);
  };
  const go = (n) => {
    now = Math.max(0, Math.min(steps, n));
    show();
  };
  // past the end of a cycle comes its first step again
  const forward = () => go(now < steps ? now + 1 : lasso ? data.loop + 1 : now);
  const play = () => {
    if (timer !== null) {
      clearInterval(timer);
      timer = null;
    } else {
      timer = setInterval(forward, 900);
    }
    el("play").textContent = timer === null ? "\u25b6" : "\u23f8";
  };
  const theme = () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  };
  const toggle = (id, action) => () => {
    el(id).checked = !el(id).checked;
    action();
  };
  const showLanes = () => {
    const lanes = el("lanes").checked;
    el("steps").className = "panel " + (lanes ? "lanes" : "events");
    for (const [cell, more] of wide) cell.colSpan = more + (lanes ? Math.max(1, data.lanes.length) : 1);
    if (rows.length) into(rows[now].querySelector(".moves"), document.querySelector("#steps .scroll"));
  };

  buildSteps();
  buildSource();
  buildFormula();
  el("slider").max = steps;
  el("slider").addEventListener("input", () => go(Number(el("slider").value)));
  el("hide").checked = data.variables.length > 40;
  el("hide").addEventListener("change", showState);
  el("lanes").checked = data.lanes.length > 1 && data.lanes.length <= 8;
  el("lanes").addEventListener("change", showLanes);
  showLanes();
  for (const [id, action] of Object.entries({
    first: () => go(0), back: () => go(now - 1), next: forward, last: () => go(steps), play, theme,
  })) el(id).addEventListener("click", action);
  const KEYS = {
    ArrowRight: forward, j: forward, n: forward, ArrowLeft: () => go(now - 1), k: () => go(now - 1), p: () => go(now - 1),
    Home: () => go(0), End: () => go(steps), " ": play, h: toggle("hide", showState), l: toggle("lanes", showLanes), t: theme,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.id === "slider" && event.key.startsWith("Arrow")) return;
    if (event.key === " " && event.target.matches("button, input")) return;
    const action = KEYS[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
  go(Number(location.hash.slice(1)) || 0);
})();
