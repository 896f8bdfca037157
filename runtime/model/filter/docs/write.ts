/** Writes docs/filter-functions.md: `npx node runtime/model/filter/docs/write.ts`. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { referencePage } from './reference.ts';

await writeFile(path.resolve(import.meta.dirname, '../../../../docs/filter-functions.md'), referencePage());
