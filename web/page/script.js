// The page's script: it hands what the fields state to the program, and shows what comes back. It works out
// no figure itself.
"use strict";

const $ = (id) => document.getElementById(id);

// make returns an element with texts or elements in it.
const make = (name, ...children) => {
  const e = document.createElement(name);
  e.append(...children);
  return e;
};

// --- The program ---------------------------------------------------------------------------------

// unpack returns the compiled program. It travels as gzip in base64: the policy forbids to fetch it.
async function unpack() {
  const packed = Uint8Array.from(atob(darrmProgram), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

let booted; // resolves to the compiled program
const source = () => URL.createObjectURL(new Blob([darrmRuntime], {type: "text/javascript"}));

class Stopped extends Error {}

// Worker with one program. A call that is not wanted any more is ended with its worker: a program of one
// thread hears nothing while it solves.
class Program {
  constructor() { this.waiting = new Map(); this.next = 1; }

  async start() {
    if (this.ready) return this.ready;
    this.ready = (async () => {
      const module = await booted, url = source();
      const worker = new Worker(url);
      URL.revokeObjectURL(url);
      this.worker = worker;
      await new Promise((resolve, reject) => {
        worker.onerror = (e) => { this.broken(e.message || "the program ended"); reject(new Error(e.message)); };
        worker.onmessage = ({data}) => {
          if (data.ready) return resolve();
          if (data.broken) { this.broken(data.broken); return reject(new Error(data.broken)); }
          const call = this.waiting.get(data.id);
          if (!call) return;
          if (data.done !== undefined) return call.progress?.(data.done, data.of);
          this.waiting.delete(data.id);
          if (data.error !== undefined) call.reject(new Error(data.error));
          else call.resolve(JSON.parse(data.answer));
        };
        this.give = reject;
        worker.postMessage({module});
      });
    })();
    return this.ready;
  }

  // call returns the answer to a request. bytes are those of a file.
  async call(request, {bytes, progress} = {}) {
    await this.start();
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, {resolve, reject, progress});
      this.worker.postMessage({request: JSON.stringify({id, ...request}), bytes});
    });
  }

  broken(why) {
    for (const call of this.waiting.values()) call.reject(new Error(why));
    this.waiting.clear();
    this.worker?.terminate();
    this.ready = this.worker = null;
  }

  // stop ends all calls. The next one has a new worker.
  stop() {
    for (const call of this.waiting.values()) call.reject(new Stopped());
    this.waiting.clear();
    this.give?.(new Stopped());
    this.worker?.terminate();
    this.ready = this.worker = this.give = null;
  }
}

const programs = {plan: new Program(), curves: new Program(), votes: new Program(), table: new Program(),
  story: new Program()};

// --- Showing -------------------------------------------------------------------------------------

function table(e, header, rows, caption) {
  const head = make("tr", ...header.map((h) => { const th = make("th", h); th.scope = "col"; return th; }));
  e.replaceChildren(...(caption ? [make("caption", caption)] : []), make("thead", head),
    make("tbody", ...rows.map((row) => make("tr", ...row.map((cell) => make("td", cell))))));
}

const list = (e, texts) => e.replaceChildren(...(texts || []).map((t) => make("li", t)));

function picture(e, svg) {
  const root = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  e.replaceChildren(document.importNode(root, true));
}

// command shows a command, which is broken between words alone.
const command = (id, text) => $(id).replaceChildren(...text.split(/( )/).map((w) =>
  w === " " ? w : make("span", w)));

function complain(id, err) {
  $(id).hidden = !err;
  $(id).textContent = err ? String(err.message || err) : "";
}

document.addEventListener("click", async (e) => {
  const id = e.target.dataset?.copy;
  if (!id) return;
  try {
    await navigator.clipboard.writeText($(id).textContent);
    e.target.textContent = "Copied";
  } catch { // a page from a folder may not: the text is selected instead
    getSelection().selectAllChildren($(id));
    e.target.textContent = "Selected";
  }
  setTimeout(() => { e.target.textContent = "Copy"; }, 1500);
});

// --- Fields and the address ------------------------------------------------------------------------

// stated returns what the fields of a form state.
const stated = (form) => Object.fromEntries([...new FormData(form)]
  .filter(([, v]) => typeof v === "string").map(([k, v]) => [k, v.trim()]).filter(([, v]) => v !== ""));

// Sliders stand below the fields that have a range, and move them. A slider of a wide range moves in
// proportion.
for (const field of document.querySelectorAll(".field[data-low]")) {
  const input = field.querySelector("input"), slider = make("input");
  const {low, high, step} = field.dataset, log = "log" in field.dataset, whole = "whole" in field.dataset;
  slider.type = "range";
  slider.setAttribute("aria-label", field.querySelector("label").textContent.trim() + ", slider");
  [slider.min, slider.max, slider.step] = log ? [0, 100, 1] : [low, high, step || 1];
  const follow = () => {
    const v = Number(input.value || (input.name === "prior-mean" ? 0.75 : low));
    slider.value = log ? 100 * Math.log(v / low) / Math.log(high / low) : v;
    slider.setAttribute("aria-valuetext", input.value || "not stated");
  };
  slider.addEventListener("input", () => {
    const v = log ? low * (high / low) ** (slider.value / 100) : Number(slider.value);
    input.value = whole ? String(Math.round(Number(v.toPrecision(2)))) : String(Number(v.toPrecision(2 + !log)));
    input.dispatchEvent(new Event("input", {bubbles: true}));
  });
  input.addEventListener("input", follow);
  follow();
  field.querySelector("input").after(slider);
}

const parts = ["plan", "votes", "table", "story"];

// address returns the part and the fields that the address has behind its #.
function address() {
  const [part, query] = location.hash.slice(1).split("?");
  return {part: parts.includes(part) ? part : "plan", fields: query === undefined ? null : new URLSearchParams(query)};
}

function show() {
  const {part, fields} = address();
  for (const p of parts) $("part-" + p).hidden = p !== part;
  for (const a of document.querySelectorAll("nav a")) {
    if (a.dataset.part === part) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  if (part === "plan" && fields) {
    for (const e of $("plan").elements) if (e.name) e.value = fields.get(e.name) ?? "";
    for (const e of $("plan").querySelectorAll(".field[data-low] > input[name]")) e.dispatchEvent(new Event("input"));
    $("own").open = ["eps", "teacher-delta", "teachers"].some((f) => fields.get(f));
  }
  if (part === "plan") plan();
  if (part === "story") story();
}

// keep writes the fields of the plan into the address.
const keep = () => history.replaceState(null, "", "#plan?" + new URLSearchParams(stated($("plan"))));

// --- Plan ------------------------------------------------------------------------------------------

let planned = "", latest = 0, later;

function showPlan(answer, again) {
  const {report, header, rows, sentence} = answer, best = report.choices[0];
  $("plan-best").textContent = rows[0][0] + ": " + rows[0][3] + " % expected agreement";
  table($("plan-rows"), header, rows);
  list($("plan-notes"), [...(report.warnings || []).map((w) => "Warning: " + w), ...(report.notes || [])]);
  list($("plan-refused"), report.refused.map((r) => r.mechanism + ": " + r.why));
  $("plan-refused").parentElement.hidden = report.refused.length === 0;
  command("plan-prepare", best.prepare || "");
  $("plan-prepare").parentElement.hidden = !best.prepare;
  command("plan-command", best.command);
  command("plan-again", again);
  $("plan-sentence").textContent = sentence;
  $("plan-out").hidden = false;
}

async function plan() {
  const fields = stated($("plan")), key = JSON.stringify(fields);
  if (key === planned || !booted) return;
  planned = key;
  const mine = ++latest, p = programs.plan;
  if (p.waiting.size) p.stop();
  programs.curves.stop();
  complain("plan-error");
  $("plan-status").textContent = "Planning …";
  $("plan-stop").hidden = false;
  $("curve-stop").hidden = $("curve-go").hidden = true;
  $("curve-status").textContent = "";
  document.documentElement.dataset.state = "busy";
  try {
    const {beyond, command: again} = await p.call({call: "limit", stated: fields});
    if (beyond) {
      $("plan-out").hidden = true;
      throw new Error(beyond.limit + ". The command has no such limit: " + again);
    }
    // What needs no solver comes at once.
    const quick = await p.call({call: "quick", stated: fields}).catch((err) => {
      if (err instanceof Stopped) throw err;
      return null;
    });
    if (mine !== latest) return;
    if (quick) {
      showPlan(quick, again);
      performance.mark("first-answer");
      $("plan-status").textContent = "These fit. Optimal tables are being worked out …";
    }
    const bar = $("plan-progress");
    bar.hidden = false;
    const answer = await p.call({call: "plan", stated: fields},
      {progress: (done, of) => { bar.max = of; bar.value = done; }});
    if (mine !== latest) return;
    showPlan(answer, again);
    $("plan-status").textContent = "Worked out: " + answer.rows.length + " mechanisms fit.";
    document.documentElement.dataset.state = "planned";
    curves(fields, answer.report.advice);
  } catch (err) {
    if (mine !== latest) return;
    document.documentElement.dataset.state = "failed";
    $("plan-status").textContent = err instanceof Stopped ? "Stopped." : "";
    if (!(err instanceof Stopped)) {
      $("plan-out").hidden = true;
      complain("plan-error", err);
    }
  } finally {
    if (mine === latest) $("plan-stop").hidden = $("plan-progress").hidden = true;
  }
}

$("plan").addEventListener("submit", (e) => e.preventDefault());
$("plan").addEventListener("input", () => {
  clearTimeout(later);
  later = setTimeout(() => { keep(); plan(); }, 350);
});
$("plan-stop").addEventListener("click", () => programs.plan.stop());

// Curves come point by point: the ends and the middle first.
let drawn = 0, again = null;

async function curves(fields, advice) {
  const mine = ++drawn, p = programs.curves, figures = [...document.querySelectorAll("figure[data-over]")];
  again = () => curves(fields, advice);
  $("curve-stop").hidden = false;
  $("curve-go").hidden = true;
  try {
    const work = [];
    for (const f of figures) {
      const over = f.dataset.over, reached = {"budget-eps": advice?.least_budget_epsilon, queries: advice?.most_queries}[over] || 0;
      const axis = await p.call({call: "axis", stated: fields, over});
      const curve = {f, over, reached, points: []};
      await draw(p, fields, curve);
      const last = axis.length - 1, middle = last >> 1;
      const order = [...new Set([0, last, middle, ...axis.keys()])];
      order.forEach((i, nth) => work.push({curve, x: axis[i], nth}));
    }
    work.sort((a, b) => a.nth - b.nth);
    let done = 0;
    for (const {curve, x} of work) {
      $("curve-status").textContent = `Point ${++done} of ${work.length} …`;
      curve.points.push(await p.call({call: "point", stated: fields, over: curve.over, x}));
      curve.points.sort((a, b) => a.x - b.x);
      await draw(p, fields, curve);
    }
    if (mine !== drawn) return;
    $("curve-status").textContent = "The curves are complete.";
    document.documentElement.dataset.state = "complete";
  } catch (err) {
    if (mine !== drawn) return;
    $("curve-status").textContent = err instanceof Stopped ? "Stopped." : err.message;
    $("curve-go").hidden = false;
  } finally {
    if (mine === drawn) $("curve-stop").hidden = true;
  }
}

async function draw(p, fields, {f, over, points, reached}) {
  picture(f.querySelector(".picture"), await p.call({call: "curve", stated: fields, over, points, reached}));
  table(f.querySelector("table"), [over, "agreement", "at most"],
    points.map((q) => [String(q.x), q.shown, q.most]));
}

$("curve-stop").addEventListener("click", () => programs.curves.stop());
$("curve-go").addEventListener("click", () => again?.());

// --- Files -----------------------------------------------------------------------------------------

// takesFile calls use with files that are chosen, or dropped on the part of the page.
function takesFile(part, input, use) {
  const zone = $("part-" + part), drop = zone.querySelector(".drop");
  input.addEventListener("change", () => { if (input.files[0]) use(input.files[0]); });
  zone.addEventListener("dragover", (e) => { e.preventDefault(); drop.classList.add("over"); });
  zone.addEventListener("dragleave", () => drop.classList.remove("over"));
  zone.addEventListener("drop", (e) => {
    e.preventDefault();
    drop.classList.remove("over");
    if (e.dataTransfer.files[0]) use(e.dataTransfer.files[0]);
  });
}
// A file that misses its place must not be opened instead of the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (e) => e.preventDefault());

// busy runs what a part does, with its status and a button that stops it.
async function busy(part, text, work) {
  const p = programs[part];
  if (p.waiting.size) p.stop();
  complain(part + "-error");
  $(part + "-status").textContent = text;
  $(part + "-stop").hidden = false;
  try {
    await work(p);
    $(part + "-status").textContent = "Done.";
  } catch (err) {
    $(part + "-status").textContent = err instanceof Stopped ? "Stopped." : "";
    if (!(err instanceof Stopped)) complain(part + "-error", err);
  } finally {
    if (!p.waiting.size) $(part + "-stop").hidden = true;
  }
}

for (const part of ["votes", "table"]) {
  $(part + "-stop").addEventListener("click", () => programs[part].stop());
  $(part).addEventListener("submit", (e) => e.preventDefault());
}

const mostBytes = {votes: 64 << 20, table: 8 << 20};

async function bytesOf(part, file) {
  if (file.size > mostBytes[part]) {
    throw new Error(`${file.name} has ${file.size} bytes, but this page reads at most ${mostBytes[part]}: use the command`);
  }
  return new Uint8Array(await file.arrayBuffer());
}

let ballots = null; // the file of votes

const describe = () => busy("votes", "Reading …", async (p) => {
  $("votes-out").hidden = $("compare-out").hidden = true;
  $("votes-compare").disabled = true;
  const d = await p.call({call: "describe", stated: stated($("votes")), name: ballots.name},
    {bytes: await bytesOf("votes", ballots)});
  list($("votes-facts"), d.facts);
  if (d.picture) picture($("votes-picture"), d.picture);
  else $("votes-picture").replaceChildren();
  table($("votes-teachers"), d.header || [], d.teachers || []);
  $("votes-out").hidden = false;
  $("votes-compare").disabled = !d.compares;
});

takesFile("votes", $("votes-file"), (file) => { ballots = file; describe(); });
$("v-classes").addEventListener("change", () => { if (ballots) describe(); });

$("votes").addEventListener("submit", () => {
  if (!ballots) return;
  busy("votes", "Comparing …", async (p) => {
    $("compare-out").hidden = true;
    const c = await p.call({call: "compare", stated: stated($("votes")), name: ballots.name},
      {bytes: await bytesOf("votes", ballots)});
    table($("compare-rows"), c.header, c.rows);
    list($("compare-refused"), c.refused);
    command("compare-command", c.command);
    $("compare-out").hidden = false;
  });
});

takesFile("table", $("table-file"), (file) => busy("table", "Checking …", async (p) => {
  $("table-out").hidden = true;
  const t = await p.call({call: "check", stated: {}}, {bytes: await bytesOf("table", file)});
  $("table-verdict").textContent = t.verdict;
  picture($("table-picture"), t.picture);
  table($("table-lines"), ["line", "value", "what it means"], t.lines.map((l) => [l.name, l.value, l.means]));
  $("table-out").hidden = false;
}));

// --- The story ---------------------------------------------------------------------------------------

// A step that is asked for again while it is worked out is worked out once more, and not once for every move.
const steps = new Map();

async function step(article) {
  const state = steps.get(article) || {};
  steps.set(article, state);
  if (state.busy) { state.again = true; return; }
  state.busy = true;
  try {
    do {
      for (const o of article.querySelectorAll("output")) o.textContent = $(o.htmlFor.value).value;
      state.again = false;
      const fields = {};
      for (const e of article.querySelectorAll("input")) fields[e.name] = e.value;
      const s = await programs.story.call({call: "step", name: article.dataset.step, stated: fields});
      picture(article.querySelector(".picture"), s.picture);
      article.querySelector(".says").textContent = s.says;
    } while (state.again);
    complain("story-error");
  } catch (err) {
    complain("story-error", err);
  } finally {
    state.busy = false;
  }
}

const story = () => { if (booted) document.querySelectorAll("article").forEach(step); };
for (const article of document.querySelectorAll("article")) article.addEventListener("input", () => step(article));

// --- The beginning -------------------------------------------------------------------------------------

addEventListener("hashchange", show);
addEventListener("load", () => {
  show();
  booted = unpack();
  booted.then(() => { $("boot").hidden = true; show(); },
    (err) => { $("boot").textContent = "The program cannot be unpacked: " + err.message; });
});
