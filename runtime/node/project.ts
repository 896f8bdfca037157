import { fileURLToPath } from 'node:url';

/** Folder of the platform's own scenarios (`service/`) and of the examples (`examples/`). */
export const SCENARIOS = fileURLToPath(new URL('../../scenarios', import.meta.url));
/** Compiled scripts of the examples, which `npm ci` leaves: see runtime/cli/prepare.mjs. */
export const PREPARED_SCRIPTS = fileURLToPath(
  new URL('../../node_modules/.cache/ringmaster/compiled-scripts.jsonl', import.meta.url),
);
