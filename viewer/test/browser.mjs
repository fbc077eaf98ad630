// What drives the page in headless Chromium: commands and servers of `percale`, pages, waiting.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

export const percale = resolve(process.argv[2] ?? "../target/release/percale");
export const work = mkdtempSync(join(tmpdir(), "percale-viewer-"));
const servers = [];
const complaints = [];
const began = Date.now();
export const say = (text) => console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`);

export function run(...args) {
  const done = spawnSync(percale, args, { encoding: "utf8" });
  assert.equal(done.status, 0, `percale ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

export async function serve(...args) {
  return (await start(...args)).url;
}

export async function start(...args) {
  const server = spawn(percale, [...args, "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
  servers.push(server);
  let errors = "";
  server.stderr.on("data", (data) => (errors += data));
  return new Promise((found, failed) => {
    server.stdout.once("data", (data) => found({ url: String(data).trim(), server }));
    server.once("exit", () => failed(new Error(`percale ${args.join(" ")}: ${errors}`)));
  });
}

export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
});

export async function open(url, size = { width: 900, height: 600 }, prepare = (page) => page) {
  const page = await browser.newPage({ viewport: size });
  await prepare(page);
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && !/GPU stall|GL Driver/.test(message.text()) && !page.mayComplain && complaints.push(`${url}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`${url}: ${error.message}`));
  await page.goto(url);
  await until(page, "the first frame", "window.percale && percale.state().updates > 0");
  return page;
}

/** Waits until an expression is true in the page; the page's policy forbids it to evaluate texts itself. */
export async function until(page, what, expression, seconds = 30) {
  const end = Date.now() + 1000 * seconds;
  for (;;) {
    // a page that is loaded anew while it is asked has no answer yet
    const isSo = page.evaluate(expression).catch((error) => {
      if (!/context was destroyed/.test(error.message)) throw error;
    });
    if (await isSo) return;
    if (Date.now() > end) assert.fail(`no ${what} after ${seconds} s: ${JSON.stringify(await page.evaluate("window.percale?.state()"))}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export const state = (page) => page.evaluate("percale.state()");
/** The canvas as it is after the next picture was drawn. */
export const picture = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(document.querySelector("#view canvas").toDataURL())))));
export const text = (page, selector) => page.locator(selector).textContent();

export async function changes(page, what, action) {
  const before = await picture(page);
  await action();
  const end = Date.now() + 15000;
  while ((await picture(page)) === before) {
    assert.ok(Date.now() < end, `${what}: the picture stays the same`);
  }
  say(what);
}

export async function seek(page, frame) {
  await page.locator("#scrub").fill(String(frame));
  await until(page, `frame ${frame}`, `percale.state().shown === ${frame}`);
}

/** Ends a process that these scripts have started, with them. */
export const endsWithUs = (child) => servers.push(child);

/** Does the parts one after the other, tidies up, and ends with code 1 if anything failed or the browser complained. */
export async function all(parts) {
  let code = 0;
  try {
    for (const part of parts) await part();
    assert.deepEqual(complaints, [], "what the browser complained of");
  } catch (error) {
    console.error(error);
    console.error(complaints.join("\n"));
    code = 1;
  } finally {
    await browser.close();
    for (const server of servers) server.kill();
    rmSync(work, { recursive: true, force: true });
  }
  if (code === 0) say("all as it should be");
  process.exit(code);
}
