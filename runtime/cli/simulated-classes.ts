/** The classes of a domain for simulations and tests: of a file, or of a node. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { domainClasses } from '../component-registry/index.ts';
import { ModelError } from '../model/index.ts';
import type { ClassesFor, SimulatedClasses } from '../workbench/index.ts';
import { ask, tokenFor } from './node-access.ts';

/** Read when no classes are named: beside the scenarios. */
const FILE = 'classes.json';

/**
 * @param from a file, or the URL of a node; undefined: `classes.json` beside the scenarios, where there is one
 * @returns throws TypeError when the classes cannot be read
 */
export function classesFrom(from: string | undefined): ClassesFor {
  if (from === undefined) return (folder) => ofFile(path.join(folder, FILE), true);
  let found: Promise<SimulatedClasses | undefined> | undefined;
  return () => (found ??= /^https?:/.test(from) ? ofNode(from) : ofFile(from, false));
}

async function ofFile(file: string, mayLack: boolean): Promise<SimulatedClasses | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (mayLack && (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new TypeError(`${file} cannot be read`, { cause: error });
  }
  return read(path.basename(file), () => JSON.parse(text) as unknown);
}

async function ofNode(url: string): Promise<SimulatedClasses> {
  const base = `${url.replace(/\/$/, '')}/rest/v1`;
  const token = await tokenFor(base, undefined);
  const response = await ask(`${base}/domain/classes?export=true`, { headers: { authorization: `Bearer ${token}` } });
  const answer: unknown = await response.json();
  if (!response.ok) throw new TypeError(`${url} answered ${response.status} when asked for its classes`);
  return read(url, () => answer);
}

/** @throws TypeError */
function read(source: string, list: () => unknown): SimulatedClasses {
  try {
    return domainClasses(source, list());
  } catch (error) {
    if (!(error instanceof ModelError || error instanceof SyntaxError)) throw error;
    throw new TypeError(`${source}: ${error.message}`, { cause: error });
  }
}
