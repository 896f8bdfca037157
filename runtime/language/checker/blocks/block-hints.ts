import { type Node, type YAMLMap, isMap, isScalar } from 'yaml';
import type { ComponentDefinition } from '../../component.ts';
import { ERROR_EXIT } from '../../component.ts';
import { suggestName } from '../../problem.ts';
import type { Schema } from './schema.ts';
import { type Entry, scalarText } from '../text/source.ts';

/** Keys of a block beside its component. */
export const BLOCK_KEYS = ['next', 'exits', 'leg'];

/** What to do with a key of a block that no block has. */
export function misplacedKey(
  { key, value }: Entry,
  block: YAMLMap,
  component: ComponentDefinition,
): string | undefined {
  // `say: Hello, world` within braces are two entries.
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

/** What to write in place of a single value, where settings have to be named. */
export function namedSetting(component: string, node: Node | null, fits: readonly string[]): string | undefined {
  const [name, other] = fits;
  if (name === undefined || other !== undefined || !isScalar(node)) return undefined;
  return `write ${component}: { ${name}: ${scalarText(node)} }`;
}

/** A block that is none: its name is a key that belongs into the block above. */
export function isKeyOfBlock(name: string, value: Node | null): boolean {
  return BLOCK_KEYS.includes(name) && !isMap(value);
}
