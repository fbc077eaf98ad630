// Bundles the viewer into dist/viewer.js; with --verify, compares the committed bundle with the one that the sources make.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const result = await build({
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "inline", // three.js keeps its licence notice
  write: false,
  absWorkingDir: import.meta.dirname,
});
const made = result.outputFiles[0].text;
const file = new URL("dist/viewer.js", import.meta.url);
if (process.argv.includes("--verify")) {
  if (readFileSync(file, "utf8") !== made) {
    console.error("error: viewer/dist/viewer.js is not what the sources make; run `npm run build` in viewer/ and commit it");
    process.exit(1);
  }
  console.log(`viewer/dist/viewer.js is what the sources make, ${made.length} bytes`);
} else {
  writeFileSync(file, made);
  console.log(`${made.length} bytes in viewer/dist/viewer.js`);
}
