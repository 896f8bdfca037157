/** PostgreSQL as WebAssembly. */
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

/** The types of Node.js lack it. */
declare const WebAssembly: { readonly Module: new (content: Uint8Array) => object };

/** Bytes that a function executes, as V8 counts them, before it is optimised. A test compares the second number with V8's. */
const LATE = 2_000_000_000;
const DEFAULT = 13_000_000;

/**
 * PostgreSQL for a PGlite, optimised later than other WebAssembly: a start needs both processors
 * (docs/decisions/0021-what-a-start-waits-for.md). A module keeps the budget that V8 has while it is compiled. As a setting of the process
 * it would make V8 refuse the compiled code that comes with Node.js, and each thread would compile that again.
 */
export function compilePostgres(): object {
  const content = readFileSync(new URL('./pglite.wasm', import.meta.resolve('@electric-sql/pglite')));
  setFlagsFromString(`--wasm-tiering-budget=${LATE}`);
  try {
    return new WebAssembly.Module(content);
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${DEFAULT}`);
  }
}
