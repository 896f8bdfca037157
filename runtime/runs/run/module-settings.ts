/** Converts arguments of a module's functions to settings. */
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { Json } from '../../sandbox/index.ts';
import {
  type ComponentDefinition,
  settingKind,
  usesCall,
  type Value as Plain,
  ZERO_VALUES,
} from '../../language/index.ts';

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema>>;
}

/** Settings, and the name of the call in `leg`. */
export interface ModuleSettings {
  readonly settings: unknown;
  readonly leg: string | undefined;
}

/**
 * Converts the arguments of a call like `call.play({file})` or `sleep(500)` to settings. A single value is the main
 * setting, a number in place of a duration is in milliseconds, and defaults are added.
 */
export function moduleSettings(component: ComponentDefinition, [first]: readonly Json[]): ModuleSettings {
  const { settings: schema, shorthand, aliases = {} } = component;
  const isObject = typeof first === 'object' && first !== null && !Array.isArray(first);
  const given: Record<string, Json> = isObject
    ? { ...(first as Record<string, Json>) }
    : first === undefined || first === null
      ? {}
      : { [shorthand ?? 'value']: first };
  if (component.openExits) delete given['exits'];
  const { properties = {} } = schema as ObjectSchema;
  const leg = usesCall(component) ? given['leg'] : undefined;
  if (leg !== undefined) delete given['leg'];
  for (const [alias, name] of Object.entries(aliases)) {
    const value = given[alias];
    if (value === undefined) continue;
    given[name] = value;
    delete given[alias];
  }
  for (const [name, value] of Object.entries(given)) {
    const property = properties[name];
    if (property && typeof value === 'number' && settingKind(property) === 'duration') given[name] = `${value}ms`;
  }
  return { settings: Value.Default(schema, given), leg: typeof leg === 'string' ? leg : undefined };
}

/** The accepted exits: those named by a module (`call.menu({prompt, exits: ['1', '2']})`), or all. */
export function wiredExits(component: ComponentDefinition, [first]: readonly Json[]): ReadonlySet<string> {
  const exits = Object.keys(component.exits);
  if (!component.openExits) return new Set(exits);
  const named = (first as { exits?: Json } | null | undefined)?.exits;
  const open = Array.isArray(named) ? (named as readonly Json[]).map(String) : '0123456789*#ABCD'.split('');
  return new Set([...exits, ...open]);
}

/** True for an instant command, which is not cut short while the module cleans up. */
export function isBrief(component: ComponentDefinition): boolean {
  return !usesCall(component) && (component.brief === true || component.waits !== true);
}

/** True for a component that needs or makes a call: forbidden in a run that gave up its calls. */
export function reachesOut(component: ComponentDefinition): boolean {
  const { name, startsScenario } = component;
  return usesCall(component) || startsScenario !== undefined || name.startsWith('operation.');
}

/** Zero values of result fields. */
export function zeroFields({ results }: ComponentDefinition): Record<string, Plain> {
  return Object.fromEntries(Object.entries(results).map(([name, { type }]) => [name, ZERO_VALUES[type]]));
}
