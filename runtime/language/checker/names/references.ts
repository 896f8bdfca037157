/** References from one scenario to another. */
import { type Node, isMap, isScalar, isSeq } from 'yaml';
import type { ComponentDefinition } from '../../component.ts';
import type { Value } from '../../values.ts';
import { hasExpression } from '../../expression/template.ts';
import { type Source, scalarText } from '../text/source.ts';

/** A place in a file; both count from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A scenario that another one starts by a literal id. */
export interface ScenarioReference extends Place {
  readonly scenario: string;
  /** Name of the block that starts it; undefined: a module starts it. */
  readonly block?: string;
  /** True when the starting scenario waits for its end. */
  readonly waits: boolean;
  /** The setting with the arguments; undefined for a fallback, which gets none. */
  readonly argsName: string | undefined;
  readonly args: readonly (Place & {
    readonly name: string /** Undefined: known at run time. */;
    readonly value: Value | undefined;
  })[];
  /** True when there may be arguments with computed names. */
  readonly open: boolean;
}

/** The reference in the settings of a component that starts a scenario: `run: id`, or `run: { scenario: id, args: {} }`. */
export function referenceIn(
  source: Source,
  component: ComponentDefinition,
  settings: Node | null,
): ScenarioReference[] {
  const { startsScenario: names, shorthand } = component;
  if (names === undefined || settings === null) return [];
  const entries = isMap(settings) ? source.entries(settings) : [];
  const valueOf = (name: string): Node | null => entries.find(({ key }) => key === name)?.value ?? null;
  const id = isMap(settings) ? valueOf(names.scenario) : shorthand === names.scenario ? settings : null;
  if (!isScalar(id) || id.value === null || id.value === '' || hasExpression(scalarText(id))) return [];
  const args = valueOf(names.args);
  const given = isMap(args) ? source.entries(args) : [];
  return [
    {
      ...placeOf(source, id),
      scenario: scalarText(id),
      waits: textOf(valueOf('mode')) !== 'parallel',
      argsName: names.args,
      args: given.map(({ key, keyNode, value }) => ({ ...placeOf(source, keyNode), name: key, value: literal(value) })),
      open: args !== null && !isMap(args),
    },
  ];
}

/** The reference in the section `fallback`: the id of another scenario. */
export function fallbackReference(source: Source, node: Node | null, id: string): ScenarioReference[] {
  const scenario = textOf(node);
  if (node === null || scenario === '' || scenario === id) return [];
  return [{ ...placeOf(source, node), scenario, waits: true, argsName: undefined, args: [], open: false }];
}

function placeOf(source: Source, node: Node): Place {
  return source.position(node.range?.[0] ?? 0);
}

function textOf(node: Node | null): string {
  return isScalar(node) && node.value !== null ? scalarText(node) : '';
}

/** A value without expressions; undefined otherwise. */
function literal(node: Node | null): Value | undefined {
  if (node === null) return null;
  if (isScalar(node))
    return typeof node.value === 'string' && hasExpression(node.value) ? undefined : (node.value as Value);
  if (isMap(node) || isSeq(node)) {
    const value = node.toJSON() as Value;
    return JSON.stringify(value).includes('${') ? undefined : value;
  }
  return undefined;
}
