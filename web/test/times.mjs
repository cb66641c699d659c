// How long the page takes, beside the command that makes the same plan on one core without a cache.
//
//   node times.mjs PROGRAM FOLDER [--runs 5] [--K 100] [--queries 100] [--budget-eps 2] [--budget-delta 1e-5] [--affected 1]
//
// PROGRAM is darrm without HiGHS, whose arithmetic the page has; FOLDER is what make web made. It prints medians of
// seconds from "Planning", in Chromium: to the first rows, to the plan, to the whole curve by budget; and each as a
// multiple of the command's time. The runs of both take turns.
import {execFileSync} from "node:child_process";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {parseArgs} from "node:util";
import puppeteer from "puppeteer-core";

const text = (otherwise) => ({type: "string", default: otherwise});
const {values: {runs, ...plan}, positionals: [program, folder]} = parseArgs({allowPositionals: true, options: {
  runs: text("5"), K: text("100"), queries: text("100"), "budget-eps": text("2"), "budget-delta": text("1e-5"), affected: text("1")}});
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const marks = {"first-answer": "first rows", planned: "plan", "budget-curve": "curve by budget"};
const seconds = Object.fromEntries(["command", ...Object.keys(marks)].map((name) => [name, []]));

const browser = await puppeteer.launch({browser: "chrome", executablePath: "/usr/bin/chromium", headless: true, protocolTimeout: 3_600_000,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]});
for (let run = 0; run < Number(runs); run++) {
  const began = performance.now();
  execFileSync(program, ["plan", "--no-cache", ...Object.entries(plan).flatMap(([k, v]) => ["--" + k, v])],
    {env: {...process.env, GOMAXPROCS: "1"}, stdio: "ignore"});
  seconds.command.push((performance.now() - began) / 1000);
  const page = await browser.newPage();
  await page.goto(pathToFileURL(resolve(folder, "index.html")).href + "#plan?" + new URLSearchParams(plan));
  await page.waitForFunction(() => performance.getEntriesByName("budget-curve").length > 0, {timeout: 3_600_000});
  for (const mark of Object.keys(marks)) {
    seconds[mark].push(await page.evaluate((m) => (performance.getEntriesByName(m)[0].startTime - performance.getEntriesByName("planning")[0].startTime) / 1000, mark));
  }
  await page.close();
}
await browser.close();
const base = median(seconds.command);
console.log(`command, one core: ${base.toFixed(2)} s`);
for (const [mark, name] of Object.entries(marks)) console.log(`${name}: ${median(seconds[mark]).toFixed(2)} s, ${(median(seconds[mark]) / base).toFixed(2)} times the command`);
