// The page in real browsers: what it shows equals what the command prints, nothing leaves it, and it can be used with a
// keyboard and a screen reader.
//
//   node test.mjs PROGRAM FOLDER [--browser chromium|firefox] [--shots FOLDER] [--quick] [--only TEXT]
//
// PROGRAM is darrm without HiGHS, whose arithmetic the page has; FOLDER is what make web made. --quick leaves out all
// plans but two, --only all tests whose names have not this text. It prints the time to the first answer.
import {execFileSync, spawn} from "node:child_process";
import {mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {createServer} from "node:http";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {parseArgs} from "node:util";
import {gzipSync} from "node:zlib";
import puppeteer from "puppeteer-core";

const {values: options, positionals: [program, folder]} = parseArgs({allowPositionals: true, options: {
  browser: {type: "string", default: "chromium"}, only: {type: "string", default: ""}, shots: {type: "string"}, quick: {type: "boolean", default: false}}});
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const scratch = mkdtempSync(join(tmpdir(), "darrm-web-"));
const limit = 300_000; // milliseconds for one wait: a shared machine is slow

const failures = [];
function check(ok, what) {
  if (!ok) { failures.push(what); console.log("FAILS: " + what); }
}
const equal = (got, want, what) => check(got === want, `${what}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);

// darrm runs the command and returns what it prints.
const darrm = (...args) => execFileSync(program, args, {encoding: "utf8", env: {...process.env, COLUMNS: "400"}, stdio: ["ignore", "pipe", "ignore"]});

// serve starts darrm web and returns its address and what ends it.
async function serve() {
  const child = spawn(program, ["web", folder, "--json"], {stdio: ["ignore", "pipe", "inherit"]});
  const url = await new Promise((ok, no) => {
    let text = "";
    child.stdout.on("data", (d) => { text += d; try { ok(JSON.parse(text).url); } catch { /* not whole yet */ } });
    child.on("exit", () => no(new Error("darrm web ended: " + text)));
  });
  return {url, end: () => new Promise((ok) => { child.once("exit", ok); child.kill("SIGTERM"); })};
}

// listener is a second origin, which must see nothing.
let asked = [];
const listener = createServer((req, res) => { asked.push(req.url); res.setHeader("Access-Control-Allow-Origin", "*"); res.end(); });
await new Promise((ok) => listener.listen(0, "127.0.0.1", ok));
const elsewhere = `http://127.0.0.1:${listener.address().port}/`;

const chromium = options.browser === "chromium";
const browser = await puppeteer.launch({
  browser: chromium ? "chrome" : "firefox", executablePath: chromium ? "/usr/bin/chromium" : "/usr/bin/firefox-esr",
  headless: true, protocolTimeout: limit,
  args: chromium ? ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"] : [],
  // Firefox asks for an icon by itself. The policy refuses it, which is no violation of the page's.
  extraPrefsFirefox: {"browser.chrome.site_icons": false, "browser.chrome.favicons": false},
});

// open returns a page that notes violations of its policy, errors and requests.
async function open(url, {width = 1280, height = 900} = {}) {
  const page = await browser.newPage();
  page.noted = [];
  await page.evaluateOnNewDocument(() => {
    self.violations = [];
    addEventListener("securitypolicyviolation", (e) => self.violations.push(e.violatedDirective + " " + e.blockedURI));
  });
  page.on("pageerror", (e) => page.noted.push("error: " + e.message));
  page.on("request", (r) => {
    if (!r.url().startsWith(new URL(".", url).href) && !/^(blob|data|about):/.test(r.url())) page.noted.push("asks for " + r.url());
  });
  await page.setViewport({width, height});
  if (chromium) await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: "light"}]);
  await page.goto(url, {waitUntil: "load", timeout: limit});
  return page;
}

async function clean(page, what) {
  for (const v of await page.evaluate(() => self.violations)) check(false, `${what}: policy violated: ${v}`);
  for (const n of page.noted) check(false, `${what}: ${n}`);
  page.noted.length = 0;
}

const text = (page, selector) => page.$eval(selector, (e) => e.textContent);
const cells = (page, selector) => page.$eval(selector, (t) => [...t.querySelectorAll("tbody tr")].map((r) =>
  [...r.children].map((c) => c.textContent)));
const go = (page, hash) => page.evaluate((h) => { delete document.documentElement.dataset.state; location.hash = h; }, hash);
const planned = (page) => page.waitForFunction(() =>
  ["planned", "complete", "failed"].includes(document.documentElement.dataset.state), {timeout: limit});
const visible = (page, selector) => page.waitForSelector(selector, {visible: true, timeout: limit});

// The plans. Work is counted, so the page and the command leave out the same tables.
const plans = [
  {"K": 100, "queries": 100, "budget-eps": 2, "budget-delta": 1e-5, "affected": 1},
  {"K": 11, "queries": 20, "budget-eps": 1, "budget-delta": 1e-6, "affected": 1},
  {"K": 31, "queries": 500, "budget-eps": 4, "budget-delta": 1e-5, "affected": 1, "prior-mean": 0.9},
  {"K": 13, "queries": 10, "budget-eps": 3, "budget-delta": 1e-6, "affected": 2, "agreement": 0.8},
  {"K": 11, "queries": 1000, "budget-eps": 2, "budget-delta": 0, "eps": 0.1, "teacher-delta": 0, "teachers": "frozen"},
  {"K": 11, "queries": 5, "budget-eps": 3, "budget-delta": 1e-5, "eps": 0.1, "teacher-delta": 1e-6, "teachers": "fresh"},
  {"K": 12, "num-classes": 3, "queries": 20, "budget-eps": 2, "budget-delta": 1e-6, "affected": 1},
  {"K": 7, "num-classes": 5, "queries": 10, "budget-eps": 4, "budget-delta": 1e-5, "affected": 1, "prior-mean": 0.8},
  {"K": 14, "num-classes": 4, "queries": 30, "budget-eps": 5, "budget-delta": 1e-5, "affected": 1, "agreement": 0.7},
  {"K": 25, "queries": 10, "budget-eps": 0.5, "budget-delta": 0, "affected": 25},
  {"K": 5, "queries": 5, "budget-eps": 2, "budget-delta": 1e-5, "affected": 1, "shares": "0.9,0.1", "cost": "0:1=9"},
];
// Of more teachers, which take as long as all others together.
if (process.env.DARRM_LONG) plans.push(
  {"K": 51, "queries": 100, "budget-eps": 3, "budget-delta": 1e-6, "affected": 2, "agreement": 0.8},
  {"K": 15, "queries": 20, "budget-eps": 2, "budget-delta": 1e-5, "affected": 1, "shares": "0.9,0.1", "cost": "0:1=9"});

// samePlan compares the page's plan with the command's, to the last printed digit.
async function samePlan(page, plan) {
  const args = Object.entries(plan).flatMap(([k, v]) => ["--" + k, String(v)]);
  await go(page, "plan?" + new URLSearchParams(plan));
  await planned(page);
  const what = "plan " + args.join(" ");
  equal(await text(page, "#plan-error"), "", what);
  const printed = darrm("plan", ...args).split("\n").map((l) => l.trim().replace(/\s+/g, " "));
  const report = JSON.parse(darrm("plan", ...args, "--json"));
  const rows = await cells(page, "#plan-rows");
  equal(rows.length, report.choices.length, what + ", mechanisms");
  for (const row of rows) check(printed.includes(row.join(" ")), `${what}: the command has no row ${row.join(" | ")}`);
  const first = report.choices[0];
  equal(await text(page, "#plan-release"), first.command, what + ", command");
  equal(await text(page, "#plan-prepare"), first.prepare || "", what + ", the command before");
  check((await text(page, "#plan-sentence")).includes(first.title), what + ", sentence");
  const again = await text(page, "#plan-again");
  const repeated = JSON.parse(darrm(...again.split(" ").slice(1), "--json"));
  equal(JSON.stringify(repeated.choices), JSON.stringify(report.choices), what + ", the command line of the page");
}

// drop drops a file on a part of the page.
const drop = (page, selector, name, content) => dropBytes(page, selector, name, Buffer.from(content));

async function dropBytes(page, selector, name, bytes) {
  await page.$eval(selector, (zone, name, content) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], name));
    zone.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
  }, name, bytes.toString("base64"));
}

// The votes in the shapes that people have, with what is told and asked of each (votes/testdata/strange).
const strange = join(import.meta.dirname, "../../votes/testdata/strange");

// sameSurvey compares what the page says of a file with what votes describe finds, asks and counts.
async function sameSurvey(page, name) {
  const path = join(strange, name);
  let d = null;
  try { d = JSON.parse(darrm("votes", "describe", path, "--json")); } catch { /* of which nothing can be read */ }
  await page.evaluate(() => { for (const id of ["votes-out", "votes-error"]) document.getElementById(id).hidden = true; });
  await dropBytes(page, "#part-votes", name, readFileSync(path));
  await page.waitForFunction(() => !document.getElementById("votes-out").hidden || !document.getElementById("votes-error").hidden, {timeout: limit});
  const facts = await text(page, "#votes-facts"), shown = await page.$eval("#votes-out", (out) => !out.hidden);
  if (options.shots) await page.screenshot({path: join(options.shots, `survey-${name}.png`), fullPage: true});
  const reads = /\.(csv|jsonl)(\.gz)?$/.test(name);
  equal(shown, d !== null && reads, `${name}: is described`);
  if (!shown) { check((await text(page, "#votes-error")).length > 20, `${name}: no reason`); return; }
  check(facts.includes(`${d.queries} queries, K = ${d.k} teachers`), `${name}: ${facts}`);
  const asked = await text(page, "#votes-asked");
  for (const a of d.asked ?? []) check(asked.includes(a), `${name}: does not ask ${a}`);
  equal(await page.$eval("#votes-asked", (f) => !f.hidden), (d.asked ?? []).length > 0, `${name}: asks`);
  for (const v of d.values ?? []) check(facts.includes(v.value), `${name}: no value ${v.value}: ${facts}`);
  equal((await cells(page, "#votes-teachers")).length, d.asked ? 0 : d.teachers.length, `${name}: teachers`);
  equal(await page.$eval("#votes-picture", (p) => p.querySelector("svg") !== null), !d.asked, `${name}: a picture`);
}

async function accessible(page, what) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ")).join(", ")));
  for (const f of found) check(false, `${what}: axe: ${f}`);
  const wide = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
  check(wide <= 0, `${what}: ${wide} pixels wider than the screen`);
}

// onPaper prints a page to PDF as a dark or light screen has it: its words are on the paper, which is light.
async function onPaper(page, what, width) {
  const pdf = await page.pdf({preferCSSPageSize: true, printBackground: true});
  const pages = execFileSync("pdftotext", ["-bbox", "-", "-"], {input: pdf, encoding: "utf8"}).split("<page ").slice(1);
  check(pages.length > 0, what + ": no sheet of paper");
  for (const [i, sheet] of pages.entries()) {
    const [w, h] = sheet.match(/[\d.]+/g).map(Number), words = [...sheet.matchAll(/<word xMin="(\S+)" yMin="(\S+)" xMax="(\S+)" yMax="(\S+)">/g)];
    check(Math.abs(w - 595) < 1 && Math.abs(h - 842) < 1, `${what}: paper of ${w} by ${h}`);
    check(words.length > 0, `${what}: sheet ${i + 1} is empty`);
    for (const [, a, b, c, d] of words) check(a >= 0 && b >= 0 && c <= w && d <= h, `${what}: a word is outside the paper`);
  }
  await page.emulateMediaType("print");
  await page.setViewport({width: 703, height: 1032}); // A4 without its margins
  const faults = await page.evaluate(() => {
    const outside = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), line = document.createRange();
    for (let n; n = walker.nextNode();) {
      line.selectNodeContents(n);
      if (n.parentElement.checkVisibility() && !n.parentElement.closest(".skip") && [...line.getClientRects()].some((r) => r.right > innerWidth + 1)) outside.push(n.data);
    }
    return [outside, getComputedStyle(document.body).backgroundColor];
  });
  equal(faults[0].join(" | "), "", what + ", outside the paper");
  equal(faults[1], "rgb(255, 255, 255)", what + ", paper");
  await page.emulateMediaType("screen");
  await page.setViewport({width, height: 900});
}

const votes = ["query,t1,t2,t3,t4,t5,label", ...Array.from({length: 40}, (_, i) =>
  [`q${i}`, i % 2, i % 3 ? 1 : 0, i % 5 ? 1 : 0, i % 7 ? 0 : 1, i % 2, i % 2].join(","))].join("\n") + "\n";
const votesFile = join(scratch, "votes.csv"), tableFile = join(scratch, "table.json");
writeFileSync(votesFile, votes);
darrm("solve", "--K", "11", "--m", "3", "--eps", "0.1", "--teacher-delta", "1e-5", "--out", tableFile);
const tableOf = {gamma: readFileSync(tableFile, "utf8")};
darrm("solve", "--K", "6", "--num-classes", "3", "--label-eps", "1", "--affected", "1", "--out", tableFile);
tableOf.plurality = readFileSync(tableFile, "utf8");
darrm("solve", "--K", "6", "--num-classes", "3", "--affected", "1", "--queries", "5", "--budget-eps", "2", "--budget-delta", "1e-5", "--out",
  tableFile);
tableOf.answers = readFileSync(tableFile, "utf8");

const tests = {
  async "from a folder, the first answer"() {
    const page = await open(pathToFileURL(resolve(folder, "index.html")).href);
    await page.waitForFunction(() => performance.getEntriesByName("first-answer").length > 0, {timeout: limit});
    const ms = await page.evaluate(() => performance.getEntriesByName("first-answer")[0].startTime);
    console.log(`   first answer after ${(ms / 1000).toFixed(1)} s`);
    await planned(page);
    await clean(page, "from a folder");
    await page.close();
  },
  async "plans equal the command's"() {
    const s = await serve(), page = await open(s.url);
    for (const p of options.quick ? plans.slice(0, 2) : plans) await samePlan(page, p);
    await go(page, "plan?K=100000&queries=10&budget-eps=1&budget-delta=1e-6");
    await planned(page);
    check(/at most 150 teachers.*darrm plan .*--K 100000/.test(await text(page, "#plan-error")), "a plan beyond the page's limit");
    check(await page.evaluate(() => ![...document.querySelectorAll("#part-plan .picture, #plan-best")].some((e) => e.checkVisibility())), "frames wait for a plan that failed");
    // A plan that fails while curves are drawn: neither its axes nor the curves before come after its error.
    await go(page, "plan?K=21&queries=11&budget-eps=2&budget-delta=1e-6&affected=1");
    await planned(page);
    await go(page, "plan?K=x&queries=10&budget-eps=1&budget-delta=1e-6");
    await planned(page);
    await new Promise((ok) => setTimeout(ok, 1000));
    check(/“Teachers”/.test(await text(page, "#plan-error")), "a number that is none");
    check(await page.evaluate(() => ![...document.querySelectorAll("#part-plan .picture, #curve-go, #curve-stop")].some((e) => e.checkVisibility())), "curves beside an error");
    equal(await text(page, "#curve-status"), "", "what the curves say beside an error");
    // Shares by places stand in the address, and names of classes never do.
    await go(page, "plan?K=9&queries=5&budget-eps=2&budget-delta=1e-6&affected=1");
    await planned(page);
    const share = async (value, field) => {
      await page.evaluate((v, f) => {
        delete document.documentElement.dataset.state;
        const e = document.getElementById(f);
        e.value = v;
        e.dispatchEvent(new Event("input", {bubbles: true}));
      }, value, field);
      await planned(page);
      return page.evaluate(() => decodeURIComponent(location.hash));
    };
    check((await share("0.9,1e-1", "f-shares")).includes("shares=0.9,1e-1"), "shares in the link");
    check(/always answering 0/i.test(await text(page, "#plan-best")), "the sentence of shares: " + await text(page, "#plan-best"));
    check(!/shares|yes/.test(await share("no=0.9,yes=0.1", "f-shares")), "the link has names of classes");
    check(/is of no class/.test(await text(page, "#plan-error")), "shares by names: " + await text(page, "#plan-error"));
    check(!/cost|flu/.test(await share("flu:none=9", "f-cost")), "the link has names of classes in costs");
    await clean(page, "plans");
    await page.close();
    await s.end();
  },
  async "nothing leaves the page"() {
    const s = await serve(), page = await open(s.url);
    await planned(page);
    await clean(page, "before the planted calls");
    const refused = await page.evaluate(async (url) => {
      const worker = (code) => new Promise((ok) => {
        const w = new Worker(URL.createObjectURL(new Blob([code])));
        w.onmessage = (e) => ok(e.data);
        w.onerror = () => ok("refused");
      });
      const image = (src) => new Promise((ok) => { const i = new Image(); i.onload = () => ok("loaded"); i.onerror = () => ok("refused"); i.src = src; });
      return {
        page: await fetch(url + "page").then(() => "sent", () => "refused"),
        worker: await worker(`fetch(${JSON.stringify(url + "worker")}).then(() => postMessage("sent"), () => postMessage("refused"))`),
        image: await image(url + "image"),
        beacon: await new Promise((ok) => { navigator.sendBeacon(url + "beacon", "x"); setTimeout(() => ok("refused"), 500); }),
        own: await fetch("index.html").then(() => "sent", () => "refused"),
        evaluated: await worker(`try { eval("1"); postMessage("evaluated") } catch { postMessage("refused") }`),
      };
    }, elsewhere);
    for (const [how, what] of Object.entries(refused)) equal(what, "refused", "planted " + how);
    const seen = await page.evaluate(() => self.violations.join("\n"));
    check(/connect-src/.test(seen), "no violation was reported of the planted fetch");
    equal(asked.join(" "), "", "requests at another origin");
    await fetch(elsewhere + "control");
    equal(asked.join(" "), "/control", "the other origin does not listen");
    asked = [];
    await page.close();
    await s.end();
  },
  async "off line, with files and the story"() {
    const s = await serve(), page = await open(s.url);
    await planned(page);
    await s.end(); // nothing answers any more
    await samePlan(page, plans[1]);

    await go(page, "votes");
    await drop(page, "#part-votes", "votes.csv", votes);
    await visible(page, "#votes-out");
    const d = JSON.parse(darrm("votes", "describe", votesFile, "--json"));
    const facts = await text(page, "#votes-facts");
    check(facts.includes(`${d.queries} queries, K = ${d.k} teachers`), "description: " + facts);
    const described = darrm("votes", "describe", votesFile).split("\n").map((l) => l.trim().replace(/\s+/g, " "));
    for (const row of await cells(page, "#votes-teachers")) check(described.includes(row.join(" ")), "no teacher " + row.join(" | "));
    await page.click("#votes-compare");
    await visible(page, "#compare-out");
    const command = await text(page, "#compare-command");
    equal(command, "darrm compare votes.csv --budget-eps 2 --budget-delta 1e-5 --affected 1", "comparison, command");
    const compared = darrm(...command.replace("votes.csv", votesFile).split(" ").slice(1)).split("\n").map((l) => l.trim().replace(/\s+/g, " "));
    const rows = await cells(page, "#compare-rows");
    check(rows.length > 3, "comparison: " + rows.length + " rows");
    for (const row of rows) check(compared.includes(row.join(" ")), "the command compares no " + row.join(" | "));
    // Pasted cells are the same votes.
    await page.evaluate(() => { document.getElementById("votes-out").hidden = true; });
    await page.$eval("#votes-paste", (e, cells) => { e.value = cells; e.dispatchEvent(new Event("input", {bubbles: true})); }, votes.trim().replaceAll(",", "\t"));
    await visible(page, "#votes-out");
    equal(await text(page, "#votes-facts"), facts, "pasted cells");
    // A role is changed by a choice, what is asked is answered by one, and both stand in the command.
    const pick = async (column, role) => { await page.evaluate(() => { document.getElementById("votes-out").hidden = true; });
      await page.select(`#votes-rows th:nth-child(${column}) select`, role); await visible(page, "#votes-out"); };
    await drop(page, "#part-votes", "v.csv", votes);
    await visible(page, "#votes-out");
    equal(await page.$$eval("#votes-rows select", (all) => all.map((e) => e.value).join(" ")), "id vote vote vote vote vote truth", "roles");
    equal((await cells(page, "#votes-rows"))[1].join(), "q0,0,0,0,1,0,0", "the first rows");
    await pick(6, "-");
    check((await text(page, "#votes-facts")).includes("K = 4 teachers"), "a column that is left out");
    await page.click("#votes-compare");
    await visible(page, "#compare-out");
    equal(await text(page, "#compare-command"), "darrm compare v.csv --id-column '#1' --label-column '#7' --vote-columns '#2..#5' --budget-eps 2 --budget-delta 1e-5 --affected 1",
      "comparison of columns that were chosen");
    await dropBytes(page, "#part-votes", "pm1.csv.gz", gzipSync(readFileSync(join(strange, "pm1_demo.csv"))));
    await visible(page, "#votes-asked");
    check(await page.$eval("#votes-compare", (b) => b.disabled), "a file that asks is compared");
    await page.evaluate(() => { document.getElementById("votes-out").hidden = true; });
    await page.click("#votes-asked input[value='0']");
    await visible(page, "#votes-out");
    await page.waitForFunction(() => !document.getElementById("votes-compare").disabled, {timeout: limit});
    await page.click("#votes-compare");
    await visible(page, "#compare-out");
    check((await text(page, "#compare-release")).startsWith("darrm aggregate pm1.csv.gz --classes=-1,1 "), "release: " + await text(page, "#compare-release"));
    await drop(page, "#part-votes", "bare.csv", "0,1,1\n1,1,1\n0,0,1\n");
    await visible(page, "#votes-out");
    check((await text(page, "#votes-facts")).includes("3 queries, K = 3 teachers"), "a file without names");
    for (const name of readdirSync(strange).filter((n) => n !== "README.md")) await sameSurvey(page, name);
    await drop(page, "#part-votes", "votes.csv", "query,t1,t2\nq,0\n");
    await visible(page, "#votes-error");

    await go(page, "table");
    for (const [kind, content] of Object.entries(tableOf)) {
      await page.evaluate(() => { document.getElementById("table-out").hidden = true; });
      await drop(page, "#part-table", kind + ".json", content);
      await visible(page, "#table-out");
      writeFileSync(tableFile, content);
      const verdict = await text(page, "#table-verdict");
      const verified = darrm("verify", tableFile).replace(/\s+/g, " ");
      check(verified.includes(verdict), `${kind}: ${verdict}`);
      const lines = await cells(page, "#table-lines");
      check(lines.length > 5 && lines.every((l) => l[2].length > 10), `${kind}: ${lines.length} lines`);
      check(await page.$eval("#table-picture svg", (e) => e.querySelectorAll("circle").length >= 7), kind + ": no picture");
    }
    // A promise that is stronger than the table is refused.
    await drop(page, "#part-table", "gamma.json", tableOf.gamma.replace('"epsilon": 0.1', '"epsilon": 0.05'));
    await visible(page, "#table-error");
    check(!(await page.$eval("#table-out", (e) => e.checkVisibility())), "a refused table has a verdict");

    await go(page, "story");
    await page.waitForFunction(() => [...document.querySelectorAll("article")].every((a) => a.querySelector("svg") && a.querySelector(".says").textContent),
      {timeout: limit});
    for (const step of ["vote", "noise", "labels", "bill"]) {
      const of = `article[data-step=${step}]`, before = await page.$eval(of + " .picture", (e) => e.innerHTML);
      await page.focus(of + " input");
      await page.keyboard.press("ArrowRight");
      await page.waitForFunction((of, before) => document.querySelector(of + " .picture").innerHTML !== before,
        {timeout: 60_000}, of, before).catch(() => check(false, step + ": the figure does not move"));
    }
    await clean(page, "off line");
    await page.close();
  },
  async "a first use, in clicks"() {
    const s = await serve();
    if (chromium) await browser.defaultBrowserContext().overridePermissions(new URL(s.url).origin, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]);
    const page = await open(s.url);
    await page.evaluate(() => { self.clicks = 0; addEventListener("click", (e) => { if (e.isTrusted && e.detail > 0) self.clicks++; }, true); });
    // My votes.
    await page.click("nav a[data-part=votes]");
    await page.click("#votes-paste");
    await page.$eval("#votes-paste", (e, cells) => { e.value = cells; e.dispatchEvent(new Event("input", {bubbles: true})); }, votes.trim().replaceAll(",", "\t"));
    await visible(page, "#votes-out");
    // My budget.
    await page.click("#v-budget-eps");
    await page.keyboard.down("Control");
    await page.keyboard.press("a");
    await page.keyboard.up("Control");
    await page.keyboard.type("3");
    // My command.
    await page.click("#votes-compare");
    await visible(page, "#compare-out");
    await page.click("button[data-copy=compare-release]");
    await page.waitForFunction(() => /Copied|Selected/.test(document.querySelector("button[data-copy=compare-release]").textContent), {timeout: limit});
    // Where a browser without a screen refuses its clipboard, the page selects the command for the keyboard.
    const copied = await page.evaluate(async () => getSelection().toString() || await navigator.clipboard.readText());
    equal(copied, "darrm aggregate votes.tsv --budget-eps 3 --budget-delta 1e-5 --affected 1 --out labels.csv", "the copied command");
    const clicks = await page.evaluate(() => self.clicks);
    check(clicks > 0 && clicks <= 6, `a first use takes ${clicks} clicks`);
    console.log(`   ${clicks} clicks`);
    // It makes the labels, with the votes as they were pasted.
    writeFileSync(join(scratch, "votes.tsv"), votes.replaceAll(",", "\t"));
    execFileSync(resolve(program), copied.split(" ").slice(1), {cwd: scratch, stdio: "ignore"});
    equal(readFileSync(join(scratch, "labels.csv"), "utf8").trim().split("\n").length, 41, "lines of labels");
    await clean(page, "a first use");
    await page.close();
    await s.end();
  },
  async "keyboard, stop and the address"() {
    const s = await serve(), page = await open(s.url + "#plan?K=20&queries=10&budget-eps=2&budget-delta=1e-6&affected=1");
    await planned(page);
    equal(await page.$eval("#f-K", (e) => e.value), "20", "K of the address");
    equal(await page.$eval("#f-agreement", (e) => e.value), "", "a field that the address has not");
    await page.focus("#f-K + input");
    await page.evaluate(() => { delete document.documentElement.dataset.state; });
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => location.hash.includes("K=21"), {timeout: limit});
    await planned(page);
    check((await text(page, "#plan-sentence")).includes("21 models"), "the slider's plan");
    // A moved budget shows its neighbours' figures at once, and a figure alone where it is worked out.
    await go(page, "plan?K=9&queries=10&budget-eps=2&budget-delta=1e-6&affected=1");
    await page.waitForFunction(() => performance.getEntriesByName("budget-curve").length > 0, {timeout: limit});
    const move = (v) => page.evaluate((v) => { const e = document.getElementById("f-budget-eps");
      e.value = v; e.dispatchEvent(new Event("input", {bubbles: true})); return document.getElementById("plan-best").textContent; }, v);
    check(/^ε = 2.1: between [\d.]+ % and [\d.]+ % of the labels/.test(await move("2.1")), "a budget between two points: " + await text(page, "#plan-best"));
    check(/^ε = 2: [\d.]+ % of the labels/.test(await move("2")), "the budget of a point: " + await text(page, "#plan-best"));
    // The keyboard reaches a curve's points, which then show their figures.
    await page.waitForFunction(() => !document.getElementById("plan-best").classList.contains("soon"), {timeout: limit});
    const shown = () => page.$$eval("figure[data-over='budget-eps'] .value", (all) => all.filter((e) => getComputedStyle(e).visibility === "visible").map((e) => e.textContent).join());
    equal(await shown(), "", "a figure that nobody points at");
    await page.$eval("figure[data-over='budget-eps'] circle", (dot) => dot.focus());
    check(/^[\d.]+: [\d.]+ %$/.test(await shown()), "the figure of a point: " + await shown());
    // Stopped at once, whatever it works at; and the next change is worked out.
    await go(page, "plan?K=140&queries=2000&budget-eps=2&budget-delta=1e-6&affected=1");
    await visible(page, "#plan-stop");
    await page.focus("#plan-stop");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.getElementById("plan-status").textContent === "Stopped.", {timeout: 5000});
    await go(page, "plan?K=9&queries=10&budget-eps=2&budget-delta=1e-6&affected=1");
    await planned(page);
    check((await text(page, "#plan-sentence")).includes("9 models"), "the plan after a stop");
    await page.reload({waitUntil: "load"});
    await page.keyboard.press("Tab");
    equal(await page.evaluate(() => document.activeElement.className), "skip", "the first stop of the keyboard");
    await clean(page, "keyboard");
    await page.close();
    await s.end();
  },
  async "axe, at three widths, light and dark"() {
    const s = await serve();
    // A page of each width, whose style alone knows light and dark.
    for (const width of [1280, 768, 390]) {
      const page = await open(s.url + "#plan?K=9&queries=5&budget-eps=2&budget-delta=1e-6&affected=1&agreement=0.9", {width});
      for (const part of ["plan", "votes", "table", "story"]) {
        if (part !== "plan") await go(page, part);
        if (part === "plan") {
          await planned(page);
          // Pictures show the curves as far as they are drawn in a minute.
          if (options.shots) await page.waitForFunction(() => document.documentElement.dataset.state === "complete", {timeout: 60_000}).catch(() => {});
        }
        if (part === "votes") {
          await drop(page, "#part-votes", "votes.csv", votes);
          await visible(page, "#votes-out");
          await page.click("#votes-compare");
          await visible(page, "#compare-out");
        }
        if (part === "table") { await drop(page, "#part-table", "t.json", tableOf.gamma); await visible(page, "#table-out"); }
        if (part === "story") await page.waitForFunction(() => document.querySelectorAll("article svg").length === 4, {timeout: limit});
        const small = await page.evaluate(() => [...document.querySelectorAll("svg text")].filter((t) => t.checkVisibility())
          .map((t) => [t.textContent, parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a]).filter(([, px]) => Math.abs(px) > 0 && px < 9));
        for (const [t, px] of small) check(false, `${part}, ${width} pixels: ${JSON.stringify(t)} is ${px.toFixed(1)} pixels high`);
        const cut = await page.evaluate(() => [...document.querySelectorAll("svg text")].filter((t) => t.checkVisibility()).filter((t) => {
          const a = t.getBoundingClientRect(), b = t.closest("svg").getBoundingClientRect();
          return a.left < b.left - 1 || a.right > b.right + 1;
        }).map((t) => t.textContent));
        for (const t of cut) check(false, `${part}, ${width} pixels: the picture cuts ${JSON.stringify(t)}`);
        for (const scheme of chromium ? ["light", "dark"] : ["light"]) {
          const seen = () => chromium && page.emulateMediaFeatures([{name: "prefers-color-scheme", value: scheme}]);
          await seen();
          await accessible(page, `${part}, ${width} pixels, ${scheme}`);
          if (options.shots) await page.screenshot({path: join(options.shots, `${part}-${width}-${scheme}.png`), fullPage: true});
          if (chromium && width === 1280) {
            await onPaper(page, `${part}, printed, ${scheme}`, width);
            await seen(); // which printing forgets
          }
        }
      }
      await clean(page, `${width} pixels`);
      await page.close();
    }
    await s.end();
  },
};

try {
  for (const [name, run] of Object.entries(tests).filter(([name]) => name.includes(options.only))) {
    const began = Date.now();
    console.log(`${options.browser}: ${name}`);
    await run();
    console.log(`   ${((Date.now() - began) / 1000).toFixed(0)} s`);
  }
  equal(asked.join(" "), "", "requests at another origin");
} catch (err) {
  check(false, err.stack);
} finally {
  await browser.close();
  listener.close();
  rmSync(scratch, {recursive: true});
}
console.log(failures.length ? `${failures.length} failures` : "all pass");
process.exit(failures.length ? 1 : 0);
