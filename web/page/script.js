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

// unlessStopped passes over an error, but for the one that ends all that follows.
function unlessStopped(err) {
  if (err instanceof Stopped) throw err;
}

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
          if (data.early !== undefined) return call.early?.(JSON.parse(data.early));
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
  async call(request, {bytes, progress, early} = {}) {
    await this.start();
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, {resolve, reject, progress, early});
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
  const head = make("tr", ...header.map((h) => { const th = make("th", h); th.scope = "col"; return th; })); // texts, or controls
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

// commands shows the command that releases, and what is run before it, if anything.
function commands(part, before, release) {
  command(part + "-prepare", before || "");
  $(part + "-prepare").parentElement.hidden = !before;
  command(part + "-release", release);
}

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
    if ($("own").open || fields.get("shares") || fields.get("cost")) $("more").open = true;
  }
  if (part === "plan") plan();
  if (part === "story") story();
}

// Shares and costs of classes by their places, or in one word. Anything else may be the name of a class, which an
// address never has.
const places = /^(ordered|balanced|([\d\s.,:=+-]|(?<=[\d.])e(?=[-+\d]))*)$/i;

// keep writes the fields of the plan into the address.
const keep = () => history.replaceState(null, "", "#plan?" + new URLSearchParams(Object.entries(stated($("plan")))
  .filter(([name, value]) => !["shares", "cost"].includes(name) || places.test(value))));

$("plan-share").hidden = !location.protocol.startsWith("http"); // a path on this machine is no link
$("plan-link").addEventListener("click", async ({target}) => {
  keep();
  let done = "Copied";
  try { await navigator.clipboard.writeText(location.href); } catch { done = "It stands in the address"; }
  target.textContent = done;
  setTimeout(() => { target.textContent = "Copy a link"; }, 1500);
});

// --- Plan ------------------------------------------------------------------------------------------

let planned = "", said = "", latest = 0, later;

// others tells what the fields state that are folded up, where they are.
function others(fields) {
  const reach = fields.affected, classes = fields["num-classes"] || "2", delta = fields["budget-delta"];
  const told = fields.shares || fields.cost ? ", classes told apart" : "";
  $("more-stated").textContent = `: one record reaches ${reach || "all"} teacher${reach === "1" ? "" : "s"}, ${classes} classes${told}, δ = ${delta || "0"}`;
}

function showPlan(answer, again) {
  const {report, header, rows, sentence} = answer, best = report.choices[0];
  $("plan-best").textContent = said = answer.short;
  table($("plan-rows"), header, rows);
  list($("plan-notes"), [...(report.warnings || []).map((w) => "Warning: " + w), ...(report.notes || [])]);
  list($("plan-refused"), report.refused.map((r) => r.mechanism + ": " + r.why));
  $("plan-refused").parentElement.hidden = report.refused.length === 0;
  commands("plan", best.prepare, best.command);
  command("plan-again", again);
  $("plan-best").classList.remove("soon");
  $("plan-sentence").textContent = sentence;
  $("plan-out").hidden = false;
}

async function plan() {
  const fields = stated($("plan")), key = JSON.stringify(fields);
  if (!booted) return;
  if (key === planned) { // moved, and back again
    if (["planned", "complete"].includes(document.documentElement.dataset.state)) {
      $("plan-best").textContent = said;
      $("plan-best").classList.remove("soon");
    }
    return;
  }
  planned = key;
  const mine = ++latest, p = programs.plan;
  if (p.waiting.size) p.stop();
  drawn++; // the curves before say no more
  programs.curves.stop();
  others(fields);
  complain("plan-error");
  $("plan-best").textContent = "";
  between(fields);
  $("plan-status").textContent = "Planning …";
  for (const mark of ["planning", "first-answer", "planned", "budget-curve"]) performance.clearMarks(mark);
  performance.mark("planning");
  $("plan-stop").hidden = false;
  $("curve-stop").hidden = $("curve-go").hidden = true;
  $("curve-status").textContent = "";
  document.documentElement.dataset.state = "busy";
  try {
    const {beyond, meaning, command: again} = await p.call({call: "limit", stated: fields});
    if (mine !== latest) return;
    $("plan-meaning").textContent = meaning;
    if (beyond) {
      throw new Error(beyond.limit + ". The command has no such limit: " + again);
    }
    // The axes stand where the curves will, beside the plan: the other worker draws them.
    const axes = Promise.all(figures.map((f) => draw(programs.curves, fields, {f, over: f.dataset.over, points: [], reached: 0}).catch(unlessStopped)));
    axes.catch(() => {}); // a stop, which the plan has too
    const bar = $("plan-progress");
    bar.hidden = false;
    const answer = await p.call({call: "plan", stated: fields}, {
      progress: (done, of) => { bar.max = of; bar.value = done; },
      early: (quick) => { // what needs no table
        if (mine !== latest) return;
        showPlan(quick, again);
        $("plan-best").classList.add("soon");
        performance.mark("first-answer");
        $("plan-status").textContent = "These fit. Optimal tables are being worked out …";
      }});
    await axes;
    if (mine !== latest) return;
    showPlan(answer, again);
    // Its own point is one of each curve.
    for (const f of figures) {
      const over = f.dataset.over, x = Number(fields[over]);
      known.set(pointKey(fields, over, x), answer.point);
      await draw(p, fields, {f, over, points: [{...answer.point, x}], reached: 0});
    }
    $("plan-status").textContent = "Worked out: " + answer.rows.length + " mechanisms fit.";
    document.documentElement.dataset.state = "planned";
    performance.mark("planned");
    curves(fields, answer.report.advice);
  } catch (err) {
    if (mine !== latest) return;
    programs.curves.stop(); // which may draw axes still
    document.documentElement.dataset.state = "failed";
    $("plan-status").textContent = err instanceof Stopped ? "Stopped." : "";
    if (!(err instanceof Stopped)) {
      $("plan-out").hidden = true;
      for (const f of figures) for (const e of f.querySelectorAll(".picture, table")) e.replaceChildren();
      complain("plan-error", err);
    }
  } finally {
    if (mine === latest) $("plan-stop").hidden = $("plan-progress").hidden = true;
  }
}

$("plan").addEventListener("submit", (e) => e.preventDefault());
$("plan").addEventListener("input", () => {
  between(stated($("plan")));
  clearTimeout(later);
  later = setTimeout(() => { keep(); plan(); }, 350);
});
$("plan-stop").addEventListener("click", () => programs.plan.stop());

// Curves come point by point: the budget's first, the plan's own point and the ends before what lies between, each
// time the middle of the widest gap. A point that is known, from the plan or from before, is not worked out again.
const figures = [...document.querySelectorAll("figure[data-over]")], known = new Map();
let drawn = 0, again = null;

function pointKey(fields, over, x) {
  const {agreement, ...at} = {...fields, [over]: String(x)}; // the wanted agreement changes no point
  return JSON.stringify(Object.entries(at).sort());
}

// Without the budget, what the curve by budget stands for; and its points.
const besides = (fields) => pointKey({...fields, "budget-eps": ""}, "budget-eps", 0);
let byBudget = {of: "", points: []};

// between shows at once what a moved budget gives: the figure where it is worked out, else those of its
// neighbours on the curve.
function between(fields) {
  const x = Number(fields["budget-eps"]), {of, points} = byBudget;
  if (of !== besides(fields) || !(x > 0)) return;
  const below = points.findLast((p) => p.x <= x), above = points.find((p) => p.x >= x);
  if (!below || !above) return;
  const one = below.x === above.x, least = below.agreement === null ? "at most" : `between ${below.shown} and`;
  if (above.agreement === null || !one && below.agreement > above.agreement) return;
  $("plan-best").classList.add("soon");
  $("plan-best").textContent = `ε = ${fields["budget-eps"]}: ${one ? above.shown : `${least} ${above.shown}`} of the labels are expected to agree`;
}

// coarse returns the places of n points, those that show most of the range first.
function coarse(n) {
  const places = [0, n - 1].filter((v, i, a) => a.indexOf(v) === i);
  for (let step = (n - 1) / 2; places.length < n; step /= 2) {
    for (let at = step; at < n - 1; at += step) if (!places.includes(Math.round(at))) places.push(Math.round(at));
  }
  return places;
}

async function curves(fields, advice) {
  const mine = ++drawn, p = programs.curves;
  again = () => curves(fields, advice);
  $("curve-stop").hidden = false;
  $("curve-go").hidden = true;
  try {
    const work = [];
    for (const [nth, f] of figures.entries()) {
      const over = f.dataset.over, reached = {"budget-eps": advice?.least_budget_epsilon, queries: advice?.most_queries}[over] || 0;
      const axis = await p.call({call: "axis", stated: fields, over}), curve = {f, over, reached, points: []};
      if (over === "budget-eps") byBudget = {of: besides(fields), points: curve.points};
      for (const [round, i] of coarse(axis.length).entries()) {
        const key = pointKey(fields, over, axis[i]);
        if (known.has(key)) curve.points.push({...known.get(key), x: axis[i]});
        else work.push({curve, key, x: axis[i], rank: (nth > 0) * 100 + round});
      }
      curve.points.sort((a, b) => a.x - b.x);
      await draw(p, fields, curve);
    }
    work.sort((a, b) => a.rank - b.rank);
    let done = 0;
    for (const {curve, key, x} of work) {
      $("curve-status").textContent = `Curves: point ${++done} of ${work.length} …`;
      if (!known.has(key)) known.set(key, await p.call({call: "point", stated: fields, over: curve.over, x}));
      curve.points.push({...known.get(key), x});
      curve.points.sort((a, b) => a.x - b.x);
      await draw(p, fields, curve);
      if (curve.over === "budget-eps" && !work.slice(done).some((w) => w.curve === curve)) performance.mark("budget-curve");
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
  const most = mostBytes[part], tooLong = () => new Error(`${file.name} has more than ${most} bytes, which this page reads at most: use the command`);
  if (file.size > most) throw tooLong();
  if (!/\.gz$/i.test(file.name)) return new Uint8Array(await file.arrayBuffer());
  const pieces = [];
  let size = 0;
  try {
    for (const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader(); ;) {
      const {done, value} = await reader.read();
      if (done) break;
      pieces.push(value);
      if ((size += value.length) > most) { reader.cancel(); break; }
    }
  } catch {
    throw new Error(`${file.name}: its gzip data are damaged or cut off, or bytes follow their end`);
  }
  if (size > most) throw tooLong();
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

// --- Votes -------------------------------------------------------------------------------------------

// The file of votes, the roles of its columns if a person stated them, and their answer to what is asked.
let ballots = null, roles = "", answered = "";
const roleNames = {vote: "vote", id: "id", truth: "truth", "-": "not read"};

const statedVotes = () => ({...stated($("votes")), ...(roles && {roles}), ...(answered && {reading: answered})});

// columns shows the first rows, and above them what each column is.
function columns(rows, found, names) {
  const json = /\.(jsonl|ndjson)(\.gz)?$/i.test(ballots.name);
  const picks = rows[0].map((name, at) => {
    const pick = make("select", ...Object.entries(roleNames).map(([value, text]) => {
      const option = make("option", text);
      option.value = value;
      return option;
    }));
    pick.setAttribute("aria-label", `column ${at + 1}, ${name}`);
    pick.value = (roles ? roles.split(",") : found)?.[at] || "vote";
    pick.addEventListener("change", () => {
      roles = picks.map((p) => p.value).join(",");
      answered = "";
      describe();
    });
    return pick;
  });
  table($("votes-rows"), picks, rows);
  $("votes-rows").classList.toggle("named", names || json);
  $("votes-header").hidden = json;
  $("votes-columns").hidden = false;
}

// ask offers the answers to what is asked of a file.
function ask(d) {
  const asked = d.facts.filter((f) => f.startsWith("asked: ")).map((f) => make("p", f.slice(7)));
  $("votes-asked").replaceChildren($("votes-asked").firstElementChild, ...asked, ...(d.answers || []).map((text, i) => {
    const choice = make("input"), label = make("label", choice, " " + text);
    [choice.type, choice.name, choice.value, choice.checked] = ["radio", "reading", String(i), answered === String(i)];
    choice.addEventListener("change", () => { answered = choice.value; describe(); });
    return label;
  }));
  $("votes-asked").hidden = asked.length === 0;
}

const describe = () => busy("votes", "Reading …", async (p) => {
  $("votes-out").hidden = $("compare-out").hidden = $("votes-asked").hidden = true;
  $("votes-compare").disabled = true;
  const bytes = await bytesOf("votes", ballots), rows = await p.call({call: "rows", stated: {}, name: ballots.name}, {bytes});
  columns(rows, null, false);
  const d = await p.call({call: "describe", stated: statedVotes(), name: ballots.name}, {bytes});
  if (d.roles) columns(rows, d.roles, d.names);
  ask(d);
  list($("votes-facts"), d.facts.filter((f) => !f.startsWith("asked: ")));
  if (d.picture) picture($("votes-picture"), d.picture);
  else $("votes-picture").replaceChildren();
  table($("votes-teachers"), d.header || [], d.teachers || []);
  $("votes-out").hidden = false;
  $("votes-compare").disabled = !d.compares;
});

// take begins with a new file, of which nothing is stated.
function take(file) {
  [ballots, roles, answered] = [file, "", ""];
  for (const id of ["v-classes", "v-header", "v-shares", "v-cost"]) $(id).value = "";
  $("votes-columns").hidden = true;
  describe();
}

takesFile("votes", $("votes-file"), (file) => { $("votes-paste").value = ""; take(file); });
// Cells of a sheet are pasted as lines with tabs. They become a file like any other, which has no name of its own.
$("votes-paste").addEventListener("input", ({target}) => {
  const text = target.value;
  if (!text.trim()) return;
  const kind = text.includes("\t") ? "tsv" : text.trimStart().startsWith("{") ? "jsonl" : "csv";
  take(new File([text.endsWith("\n") ? text : text + "\n"], "votes." + kind));
});
for (const id of ["v-classes", "v-header"]) $(id).addEventListener("change", () => { if (ballots) { answered = ""; describe(); } });

$("votes").addEventListener("submit", () => {
  if (!ballots) return;
  busy("votes", "Comparing …", async (p) => {
    $("compare-out").hidden = true;
    const c = await p.call({call: "compare", stated: statedVotes(), name: ballots.name},
      {bytes: await bytesOf("votes", ballots)});
    table($("compare-rows"), c.header, c.rows);
    list($("compare-notes"), c.notes);
    list($("compare-refused"), c.refused);
    commands("compare", c.release.slice(0, -1).join(" && "), c.release.at(-1));
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
  // Both workers of a plan are there before it begins.
  Promise.all([programs.plan.start(), programs.curves.start()]).then(() => { $("boot").hidden = true; show(); },
    (err) => { $("boot").textContent = "The program cannot be unpacked: " + err.message; });
});
