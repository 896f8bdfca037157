import { fileURLToPath } from 'node:url';

/** Folder of the platform's own scenarios (`service/`) and of the examples (`examples/`). */
export const SCENARIOS = fileURLToPath(new URL('../../scenarios', import.meta.url));
