// Drives the page in headless Chromium: `node test/drive.mjs PERCALE`; PART=aRun,play does these parts only.
// Ends with code 1 if anything is not as it should be.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { all, changes, endsWithUs, open, percale, run, say, seek, serve, start, state, text, until, work } from "./browser.mjs";

async function aRun() {
  const folder = join(work, "drop");
  run("run", "drop", "--small", "--frames", "40", "-o", folder);
  const page = await open(await serve("view", folder));
  assert.equal((await state(page)).frames, 41);
  await changes(page, "scrubs", () => seek(page, 35));
  for (const mode of ["sides", "body", "strain", "impacts", "zones", "cloth"]) {
    await changes(page, `colours by ${mode}`, () => page.selectOption("#mode", mode));
  }
  await changes(page, "edges", () => page.check("#wire"));
  await changes(page, "no edges", () => page.uncheck("#wire"));
  await changes(page, "hides the cloth", () => page.uncheck("#body-0"));
  await changes(page, "shows it", () => page.check("#body-0"));
  await changes(page, "turns", async () => {
    await page.mouse.move(60, 60);
    await page.mouse.down();
    await page.mouse.move(160, 90, { steps: 4 });
    await page.mouse.up();
  });
  const plot = await page.locator("#plot").boundingBox();
  await page.mouse.click(plot.x + 0.5 * plot.width, plot.y + 0.5 * plot.height);
  const clicked = (await state(page)).frame;
  assert.ok(clicked > 12 && clicked < 28, `a click in the middle of the plot goes to frame ${clicked}`);
  for (const series of ["rounds", "energy", "strain", "wall"]) await page.selectOption("#series", series);
  await seek(page, 0);
  await page.selectOption("#speed", "4");
  await page.click("#play");
  await until(page, "end of playing", "percale.state().frame === 40 && !percale.state().playing");
  say("plays to the end");
  await page.locator("#scrub").focus();
  await page.keyboard.press("Space");
  await until(page, "play by the space bar", "percale.state().playing");
  await page.keyboard.press("Space");
  await until(page, "pause by the space bar", "!percale.state().playing");
  say("the space bar plays and pauses, also after scrubbing");
  assert.equal(await page.locator("#strain-scale").isHidden(), true, "the strain scale belongs to strain");
  await page.selectOption("#mode", "strain");
  await seek(page, 35);
  const [, most] = /most: ([\d.]+) %/.exec(await text(page, "#legend"));
  const row = (await page.locator("#numbers tr").allTextContents()).find((row) => row.startsWith("largest strain"));
  say(`largest strain: ${most} % since frame 0, ${row.slice(row.indexOf("%") + 1)} % in the report`);
  assert.ok(Math.abs(Number(most) - Number(row.slice(row.indexOf("%") + 1))) < 0.02 * Number(most), `${most} in the legend, ${row}`);
  await page.close();

  const file = join(work, "drop.html");
  run("view", folder, "--html", file);
  const inside = await open(pathToFileURL(file).href);
  await changes(inside, "a file of its own scrubs", () => seek(inside, 30));
  await changes(inside, "and colours by zones", () => inside.selectOption("#mode", "zones"));
  // 16 bits over a cloth of one metre: what the page shows is what was certified, to a hundredth of a millimetre
  const served = await open(await serve("view", folder));
  await seek(served, 30);
  const [a, b] = await Promise.all([inside, served].map((page) => page.evaluate("Array.from({length: 289}, (_, v) => percale.vertex(v)).flat()")));
  const apart = Math.max(...a.map((x, i) => Math.abs(x - b[i])));
  assert.ok(apart < 2e-5, `positions in the file are off by ${apart} m`);
  await inside.close();
  await served.close();
}

/** From above, the cloth hides all of the ball that it lies on: nothing of it may be seen through a certified cloth. */
async function nothingThrough() {
  const folder = join(work, "through");
  run("run", "drop", "--small", "--frames", "24", "-o", folder);
  const page = await open(await serve("view", folder));
  await page.selectOption("#mode", "body");
  const ofBall = () =>
    page.evaluate(
      () =>
        new Promise((done) =>
          requestAnimationFrame(() =>
            requestAnimationFrame(() => {
              const canvas = document.querySelector("#view canvas");
              const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
              const pen = copy.getContext("2d");
              pen.drawImage(canvas, 0, 0);
              const { data } = pen.getImageData(0, 0, copy.width, copy.height);
              let count = 0;
              for (let i = 0; i < data.length; i += 4) if (data[i] > data[i + 2] + 25) count++;
              done(count);
            }),
          ),
        ),
    );
  await page.evaluate(() => {
    const { camera, controls } = percale.stage;
    camera.position.set(0.001, controls.target.y + 2.2, 0);
    camera.lookAt(controls.target);
    controls.update();
  });
  for (let n = 14; n <= 24; n++) {
    await seek(page, n);
    const count = await ofBall();
    assert.equal(count, 0, `frame ${n}: ${count} pixels of the ball are seen through the cloth`);
  }
  await page.uncheck("#body-0");
  assert.ok((await ofBall()) > 1000, "without the cloth the ball is seen");
  say("nothing is seen through a certified cloth");
  await page.close();
}

async function meshes() {
  const still = await open(await serve("view", "tangles/closed"));
  await until(still, "names of paths", `/CLOSED/.test(document.querySelector("#legend").textContent)`);
  assert.equal(await still.locator("#time").isHidden(), true, "there is nothing to play");
  await changes(still, "paths of a mesh", () => still.uncheck("#paths"));
  await still.close();

  const [before, after] = ["before", "after"].map((name) => join(work, `${name}.obj`));
  const sheet = (y) => `v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 ${y} 1\nf 1 3 2\nf 2 3 4\n`;
  writeFileSync(before, sheet(0));
  writeFileSync(after, sheet(0.7));
  const pair = await open(await serve("view", before, after));
  await changes(pair, "before and after", () => seek(pair, 1));
  await pair.close();
}

async function following() {
  const folder = join(work, "going");
  const going = spawn(percale, ["run", "drop", "--small", "--frames", "60", "-o", folder, "--set", "cloth.0.shape.cells=[24, 24]"], { stdio: "ignore" });
  endsWithUs(going);
  while (!statSync(join(folder, "checkpoint"), { throwIfNoEntry: false })) await new Promise((done) => setTimeout(done, 20));
  const page = await open(await serve("view", folder));
  await until(page, "end of the run", "percale.state().complete && percale.state().frames === 61", 90);
  await until(page, "the last frame", "percale.state().shown === 60");
  say("follows a run to its end");
  await page.close();
}

/** What becomes of a page when its run is broken off, goes on, is replaced, and when its server ends. */
async function changing() {
  const folder = join(work, "changing");
  const killed = spawn(percale, ["run", "drop", "--small", "-o", folder, "--set", "cloth.0.shape.cells=[48, 48]"], { stdio: "ignore" });
  endsWithUs(killed);
  while (!statSync(join(folder, "frames.jsonl"), { throwIfNoEntry: false })?.size) await new Promise((done) => setTimeout(done, 20));
  const { url, server } = await start("view", folder);
  const page = await open(url);
  const states = (words) => until(page, words, `document.querySelector("#state").textContent.includes(${JSON.stringify(words)})`, 60);
  await states("goes on");
  killed.kill("SIGKILL");
  await states("nobody is writing it");
  say("tells that a run was broken off");
  run("run", "drop", "--small", "-o", folder, "--force", "--frames", "12");
  await until(page, "the run that replaced it", "window.percale && percale.state().complete && percale.state().frames === 13", 60);
  assert.equal(await page.evaluate("percale.feed.meta.reports.length"), 12, "reports of the new run only");
  say("shows the run that replaced it");
  run("run", "drop", "--small", "-o", folder, "--resume", "--frames", "20");
  await until(page, "frames of a run that was resumed", "percale.state().complete && percale.state().frames === 21", 60);
  say("follows a run that was resumed");
  await seek(page, 1);
  page.mayComplain = true;
  server.kill("SIGKILL");
  await page.locator("#scrub").fill("14");
  await until(page, "word of a server that has ended", `/still running/.test(document.querySelector("#banner").textContent)`);
  assert.equal(await page.locator("#banner").isVisible(), true);
  const label = await text(page, "#frame");
  assert.match(label, /^frame 1 of 20.*14 is not here yet/, "the label names the frame that is seen");
  say("tells that its server has ended");
  await page.close();
}

async function refused() {
  const folder = join(work, "refused");
  const scene = join(work, "refused.toml");
  writeFileSync(scene, `frames = 1\nthickness = 1e-3\n[[cloth]]\nname = "a"\nshape = { kind = "sheet", size = [1.0, 1.0], cells = [4, 4] }\n[[cloth]]\nname = "b"\nshape = { kind = "sheet", size = [1.0, 1.0], cells = [4, 4] }\nposition = [0.3, 0.01, 0.3]\nrotation = [40.0, 0.0, 0.0]\n`);
  const done = spawnSync(percale, ["run", scene, "-o", folder], { encoding: "utf8" });
  assert.equal(done.status, 2, done.stderr);
  const page = await open(await serve("view", folder));
  assert.match(await page.locator("#banner").textContent(), /refused/);
  await until(page, "paths of a refused start", `document.querySelector("#legend").textContent !== ""`);
  say("a refused start with its paths");
  await page.close();
}

/** 50 thousand triangles: the time of the script for a frame, without that of the graphics. */
async function speed() {
  const folder = join(work, "large");
  run("run", "drop", "--small", "--frames", "6", "-o", folder, "--set", "cloth.0.shape.cells=[158, 158]", "--set", "cloth.0.position=[0.0, 2.0, 0.0]");
  const page = await open(await serve("view", folder), { width: 500, height: 400 });
  for (const mode of ["cloth", "strain", "zones"]) {
    await page.selectOption("#mode", mode);
    for (let n = 0; n < 7; n++) await seek(page, n);
    await page.evaluate("percale.forget()");
    for (let k = 0; k < 4; k++) for (let n = 0; n < 7; n++) await seek(page, n);
    const { median, worst } = await state(page);
    say(`script for a frame of 50 k triangles by ${mode}: median ${median.toFixed(2)} ms, worst ${worst.toFixed(2)} ms`);
    assert.ok(median <= 4, `more than 4 ms: ${median}`);
  }
  await page.close();
}

async function play() {
  const page = await open(await serve("play", "drop", "--set", "cloth.0.shape.cells=[31, 31]", "--set", "obstacle.ball.shape.subdivisions=3"), { width: 640, height: 480 });
  await changes(page, "steps", async () => {
    for (let k = 0; k < 3; k++) await page.click("#step");
    await until(page, "third frame", "percale.state().frame >= 3");
  });
  await page.click("#play");
  await until(page, "a live run", "percale.state().running");
  await until(page, "frames of a live run", "percale.state().frame > 45", 60);
  say(`live: ${(await state(page)).rate.toFixed(1)} frames/s into a browser that draws in software`);
  const middle = 16 * 32 + 16;
  const x = await page.evaluate(`percale.vertex(${middle})`);
  const [px, py] = await page.evaluate(`percale.project([${x}])`);
  await page.mouse.move(px, py);
  await page.mouse.down();
  await page.mouse.move(px + 10, py - 110, { steps: 6 });
  await until(page, "cloth that follows the mouse", `percale.vertex(${middle})[1] > ${x[1] + 0.08}`, 20);
  await page.mouse.up();
  say("drags");
  const drift = async () => page.evaluate("Array.from({length: 1024}, (_, v) => percale.vertex(v)[0]).reduce((a, b) => a + b) / 1024");
  const still = await drift();
  await page.locator("#wind").fill("15");
  const end = Date.now() + 20000;
  while ((await drift()) < still + 0.01) assert.ok(Date.now() < end, "wind does not move the cloth");
  say("wind blows");
  for (const [slider, value] of [["friction", "0.8"], ["thickness", "2"]]) await page.locator(`#${slider}`).fill(value);
  await page.selectOption("#response", "impulses");
  await page.selectOption("#mode", "zones");
  const { frame } = await state(page);
  await until(page, "frames after the settings", `percale.state().frame > ${frame + 5}`);
  assert.equal(await page.locator("#banner").isHidden(), true, await page.locator("#banner").textContent());
  await page.click("#play");
  await until(page, "pause", "percale.state().running === false");
  await page.click("#restart");
  await until(page, "a new start", "percale.state().frame === 0");
  say("settings, pause, restart");
  await page.evaluate(() => {
    const slider = document.querySelector("#friction");
    for (let k = 1; k <= 30; k++) {
      slider.value = String(0.05 * k);
      slider.dispatchEvent(new Event("input"));
    }
  });
  const moved = Date.now();
  await until(page, "an answer to thirty moves of a slider", "percale.live.isSettled");
  say(`thirty moves of a slider are answered after ${Date.now() - moved} ms`);
  await page.reload();
  await until(page, "the page anew", "window.percale && percale.state().updates > 0");
  assert.equal(await page.locator("#friction").inputValue(), "1.5", "a slider says what holds");
  assert.match(await text(page, "#friction-value"), /^1.5/);
  assert.equal(await page.locator("#response").inputValue(), "impulses");
  say("sliders are true after a reload");
  await page.close();
}

const parts = [aRun, nothingThrough, meshes, refused, following, changing, speed, play];
await all(parts.filter((part) => !process.env.PART || process.env.PART.split(",").includes(part.name)));
