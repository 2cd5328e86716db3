// Checks the generated TypeScript: it compiles strictly, reads and writes every vector as Rust does, and refuses
// malformed bytes. Runs in a folder where the pinned TypeScript is installed: see check.sh.

import { deepStrictEqual, ok, strictEqual, throws } from "node:assert";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const ts = createRequire(join(process.cwd(), "package.json"))("typescript");
const folder = process.argv[2];
const out = mkdtempSync(join(tmpdir(), "ecumene-typescript-"));

/** Stricter than most projects, so that the module compiles in any of them. */
const options = {
  strict: true,
  noUncheckedIndexedAccess: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  noImplicitOverride: true,
  noFallthroughCasesInSwitch: true,
  exactOptionalPropertyTypes: true,
  isolatedModules: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
  types: [],
  outDir: out,
};

function compile(files) {
  const program = ts.createProgram(files, options);
  const emitted = program.emit();
  const complaints = [...ts.getPreEmitDiagnostics(program), ...emitted.diagnostics];
  const host = { getCanonicalFileName: (it) => it, getCurrentDirectory: () => folder, getNewLine: () => "\n" };
  ok(complaints.length === 0, ts.formatDiagnostics(complaints, host));
}

const unhex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
const hexed = (bytes) => Buffer.from(bytes).toString("hex");

/** A decoded value as vectors have it: JSON knows neither bytes nor maps nor big numbers. */
function plain(value) {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Uint8Array) return hexed(value);
  if (value instanceof Map) return [...value].map((entry) => entry.map(plain));
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, plain(it)]));
}

/** Bytes are refused by a DecodeError, and by nothing else. */
function refuses(module, decode, bytes, why) {
  throws(() => decode(bytes), module.DecodeError, `${why}: ${hexed(bytes)}`);
}

/** Seeded random numbers (mulberry32), so that a failure can be repeated. */
function seededRandom(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

function checkVector(module, { type, hex, value }) {
  const [decode, encode] = [module[`decode${type}`], module[`encode${type}`]];
  const bytes = unhex(hex);
  const decoded = decode(bytes);
  deepStrictEqual(plain(decoded), value, `${type} ${hex}`);
  strictEqual(hexed(encode(decoded)), hex, type);
  // The same in the middle of a larger buffer, as network code hands it over.
  const padded = new Uint8Array(bytes.length + 6);
  padded.set(bytes, 3);
  deepStrictEqual(plain(decode(padded.subarray(3, 3 + bytes.length))), value, `${type} ${hex}, in a buffer`);
  for (let length = 0; length < bytes.length; length++) refuses(module, decode, bytes.subarray(0, length), "cut short");
  refuses(module, decode, padded.subarray(3, 4 + bytes.length), "a byte too many");
}

/** Damaged bytes give a value that can be written and read again, or a DecodeError. */
function checkDamage(module, vectors, rounds) {
  const draw = seededRandom(1);
  let read = 0;
  for (let round = 0; round < rounds; round++) {
    const { type, hex } = vectors[draw() % vectors.length];
    const bytes = unhex(hex);
    for (let count = draw() % 4; 0 < bytes.length && 0 <= count; count--) bytes[draw() % bytes.length] = draw();
    try {
      const value = module[`decode${type}`](bytes);
      const again = module[`decode${type}`](module[`encode${type}`](value));
      deepStrictEqual(again, value, `${type} ${hexed(bytes)}`);
      read++;
    } catch (error) {
      ok(error instanceof module.DecodeError, error);
    }
  }
  return read;
}

function checkRefused(module) {
  const lines = readFileSync(join(folder, "refused.txt"), "utf8").split("\n");
  const table = lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => line.split(" = "));
  for (const [hex, why] of table) refuses(module, module.decodeAction, unhex(hex.replaceAll(" ", "")), why);
  refuses(module, module.decodeAction, unhex("08026161"), "two letters, where Rust would drop one");
  refuses(module, module.decodeLetter, unhex("00"), "a type without values");
  return table.length;
}

function checkEncoding({ EncodeError, encodeAction, encodeState }) {
  const wrong = [
    { kind: "U16", value: 0x10000 },
    { kind: "U16", value: -1 },
    { kind: "U16", value: 0.5 },
    { kind: "U16", value: NaN },
    { kind: "I16", value: 0x8000 },
    { kind: "U32", value: 2 ** 32 },
    { kind: "U64", value: 1n << 64n },
    { kind: "U64", value: -1n },
    { kind: "U128", value: 1n << 128n },
    { kind: "Text", value: "\ud83c" },
    { kind: "Letter", value: "" },
    { kind: "Letter", value: "ab" },
    { kind: "Array", value: [1, 2, 3] },
    { kind: "Inner", value: { x: 256 } },
    { kind: "Nonsense" },
  ];
  for (const action of wrong) throws(() => encodeAction(action), EncodeError, action.kind);
  ok(encodeState !== undefined);
  return wrong.length;
}

const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
try {
  compile(files.map((name) => join(folder, name)));
  for (const name of files) {
    const stem = basename(name, ".ts");
    const module = await import(pathToFileURL(join(out, `${stem}.js`)).href);
    const vectors = JSON.parse(readFileSync(join(folder, `${stem}.vectors.json`), "utf8"));
    vectors.forEach((vector) => checkVector(module, vector));
    const read = checkDamage(module, vectors, 20_000);
    console.log(`${name}: ${vectors.length} vectors, 20000 damaged inputs (${read} read, the rest refused)`);
    if (stem === "kinds") {
      console.log(`${name}: ${checkRefused(module)} malformed inputs refused, ${checkEncoding(module)} bad values refused`);
    }
  }
} finally {
  rmSync(out, { recursive: true });
}
