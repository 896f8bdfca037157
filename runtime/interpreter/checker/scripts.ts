import { type Node, isMap, isScalar } from 'yaml';
import type { ScriptFormat } from '../../sandbox/index.ts';
import { type Place } from './references.ts';
import { type Source, scalarText } from './source.ts';

/** The script of a block, and where its lines and columns are in the file. */
export interface ScriptSite {
  readonly source: string;
  readonly format: ScriptFormat;
  readonly place: (line: number, column: number) => Place;
}

/** The script in the settings of a `script` block; undefined when there is none to be read. */
export function scriptSite(source: Source, settings: Node | null): ScriptSite | undefined {
  const valueOf = (name: string): Node | null =>
    isMap(settings) ? (source.entries(settings).find(({ key }) => key === name)?.value ?? null) : null;
  const code = isMap(settings) ? valueOf('code') : settings;
  if (!isScalar(code) || typeof code.value !== 'string') return undefined;
  const language = valueOf('language');
  const format = isScalar(language) && scalarText(language) === 'js' ? 'js' : 'ts';
  return { source: code.value, format, place: (line, column) => source.placeInScalar(code, line, column) };
}
