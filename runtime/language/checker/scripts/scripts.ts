/** Scripts of blocks, for their checks. */
import { type Node, isMap, isScalar } from 'yaml';
import type { ScriptFormat } from '../../../sandbox/index.ts';
import type { ValueType } from '../../values.ts';
import { type Source, scalarText } from '../text/source.ts';
import type { TextPlaces } from '../text/text-places.ts';

/** The names of a scenario that matter for its scripts. */
export interface ScenarioNames {
  /** Parameters and variables. */
  readonly variables: ReadonlyMap<string, ValueType>;
  readonly parameters: ReadonlySet<string>;
  /** Results of blocks, and records of the language. */
  readonly records: ReadonlyMap<string, Readonly<Record<string, ValueType>>>;
}

/** The script of a block, with the places of its lines and columns in the file. */
export interface ScriptSite {
  readonly source: string;
  readonly format: ScriptFormat;
  /** YAML folds its lines into one. */
  readonly isFolded: boolean;
  /** Name of the block. */
  readonly block: string;
  /** Names in its setting `vars`; undefined: computed at run time. */
  readonly given: ReadonlySet<string> | undefined;
  /** True when another block reads its result. */
  readonly isRead: boolean;
  readonly scenario: ScenarioNames;
  readonly places: TextPlaces;
}

type ScriptText = Omit<ScriptSite, 'block' | 'isRead' | 'scenario'>;

/** The literal script in the settings of a `script` block; undefined without one. */
export function scriptText(source: Source, settings: Node | null): ScriptText | undefined {
  const valueOf = (name: string): Node | null =>
    isMap(settings) ? (source.entries(settings).find(({ key }) => key === name)?.value ?? null) : null;
  const code = isMap(settings) ? valueOf('code') : settings;
  if (!isScalar(code) || typeof code.value !== 'string') return undefined;
  const language = valueOf('language');
  const format = isScalar(language) && scalarText(language) === 'js' ? 'js' : 'ts';
  return {
    source: code.value,
    isFolded: source.isFolded(code),
    format,
    given: given(source, valueOf('vars')),
    places: source.placesIn(code),
  };
}

function given(source: Source, vars: Node | null): ReadonlySet<string> | undefined {
  if (isMap(vars)) return new Set(source.entries(vars).map(({ key }) => key));
  return vars === null || (isScalar(vars) && vars.value === null) ? new Set() : undefined;
}
