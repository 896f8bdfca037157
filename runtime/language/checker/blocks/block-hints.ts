/** Suggestions for mistakes in the keys of a block. */
import { type Node, Scalar, type YAMLMap, isMap, isScalar } from 'yaml';
import type { ComponentDefinition } from '../../component.ts';
import { ERROR_EXIT } from '../../component.ts';
import { suggestName } from '../../problem.ts';
import type { Schema } from './schema.ts';
import { type Entry, scalarText } from '../text/source.ts';

/** Keys of a block beside its component. */
export const BLOCK_KEYS = ['next', 'exits', 'leg'];

/** `next ask`, where the colon is missing: YAML reads one key without a value. */
export function withoutColon({ key, keyNode, value }: Entry): Entry | undefined {
  const [, name = '', rest] = /^(\w+)\s+(\S.*)$/.exec(key) ?? [];
  if (rest === undefined || !BLOCK_KEYS.includes(name) || value !== null) return undefined;
  const target = new Scalar(rest);
  const { range } = keyNode;
  if (range) target.range = range;
  return { key: name, keyNode, value: target };
}

/** The suggestion for an unknown key of a block. */
export function misplacedKey(
  { key, value }: Entry,
  block: YAMLMap,
  component: ComponentDefinition,
): string | undefined {
  // In braces, YAML reads `say: Hello, world` as two entries.
  if (value === null && block.flow === true) return 'put quotes around a text with a comma in it';
  const { settings, exits, openExits } = component;
  if (Object.hasOwn((settings as Schema).properties ?? {}, key))
    return `it is a setting: write ${component.name}: { ${key}: ... }`;
  if (key === 'cases') return 'write exits: { VALUE: BLOCK, else: BLOCK }';
  if (key === 'default' && Object.hasOwn(exits, 'else')) return 'write exits: { else: BLOCK }';
  const isExit = Object.hasOwn(exits, key) || key === ERROR_EXIT || openExits?.pattern.test(key) === true;
  if (isExit && isScalar(value) && value.value !== null) return `write exits: { ${key}: ${scalarText(value)} }`;
  return suggestName(key, BLOCK_KEYS);
}

/** The suggestion for a single value of a component whose settings need names. */
export function namedSetting(component: string, node: Node | null, fits: readonly string[]): string | undefined {
  const [name, other] = fits;
  if (name === undefined || other !== undefined || !isScalar(node)) return undefined;
  return `write ${component}: { ${name}: ${scalarText(node)} }`;
}

/** True for a key of the block above that is indented like a block. */
export function isKeyOfBlock(name: string, value: Node | null): boolean {
  return BLOCK_KEYS.includes(name) && !isMap(value);
}
