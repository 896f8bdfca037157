import { fileURLToPath } from 'node:url';

/** Folder of the platform's own scenarios (`service/`) and of those to copy (`examples/`). */
export const SCENARIOS = fileURLToPath(new URL('../../scenarios', import.meta.url));
