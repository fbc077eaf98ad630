// Draws the pictures of the viewer that docs show: `node test/figures.mjs PERCALE ../docs/figures`, some minutes.
import assert from "node:assert/strict";
import { join } from "node:path";
import { all, open, run, say, seek, serve, until, work } from "./browser.mjs";

const folder = process.argv[3];
assert.ok(folder, "name the folder of the pictures");

/** As with a graphics card: smooth edges and fine shadows, however long they take. */
const inEarnest = (page) =>
  page.addInitScript(() => {
    const plain = WebGL2RenderingContext.prototype.getParameter;
    WebGL2RenderingContext.prototype.getParameter = function (name) {
      return name === 0x9246 || name === this.RENDERER ? "of a figure" : plain.call(this, name);
    };
  });
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

async function keep(page, name) {
  await page.evaluate("document.activeElement.blur()");
  await drawn(page);
  await page.screenshot({ path: join(folder, `viewer-${name}.png`) });
  await page.close();
  say(name);
}

async function view() {
  run("run", "drop", "--frames", "70", "-o", join(work, "drop"));
  const page = await open(await serve("view", join(work, "drop")), { width: 960, height: 640 }, inEarnest);
  await page.selectOption("#mode", "strain");
  await page.locator("#strain-top").fill("4");
  await page.selectOption("#series", "energy");
  await seek(page, 62);
  await keep(page, "view");
}

async function zones() {
  run("run", "drop", "--small", "--frames", "60", "-o", join(work, "large"), "--set", "cloth.0.shape.cells=[158, 158]");
  const page = await open(await serve("view", join(work, "large")), { width: 960, height: 640 }, inEarnest);
  await page.selectOption("#mode", "zones");
  for (let n = 20; n <= 60; n++) await seek(page, n);
  await keep(page, "zones");
}

async function paths() {
  const page = await open(await serve("view", "tangles/closed"), { width: 960, height: 560 }, inEarnest);
  await until(page, "names of paths", `/CLOSED/.test(document.querySelector("#legend").textContent)`);
  await keep(page, "paths");
}

async function play() {
  const page = await open(await serve("play", "drop", "--set", "cloth.0.shape.cells=[40, 40]"), { width: 960, height: 640 }, inEarnest);
  await page.click("#play");
  await until(page, "cloth at rest on the ball", "percale.state().frame > 60", 120);
  const middle = 20 * 41 + 20;
  const [px, py] = await page.evaluate(`percale.project(percale.vertex(${middle}))`);
  await page.mouse.move(px, py);
  await page.mouse.down();
  await page.mouse.move(px + 30, py - 120, { steps: 6 });
  const { frame } = await page.evaluate("percale.state()");
  await until(page, "a cloth that hangs from the mouse", `percale.state().frame > ${frame + 25}`, 120);
  await keep(page, "play");
}

await all([paths, play, view, zones]);
