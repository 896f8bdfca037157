/** The names that expressions can read. */
import type { Node } from 'yaml';
import { CALL_ENDERS, CALL_STATES } from '../../call-words.ts';
import { CEL_WORDS } from '../../expression/expression.ts';
import type { ValueType } from '../../values.ts';
import type { Source } from '../text/source.ts';

/** Records that every expression can read, with their fields, beside variables and block results. */
export const BUILT_IN_RECORDS: ReadonlyMap<string, Readonly<Record<string, ValueType>>> = new Map([
  [
    'call',
    {
      callid: 'string',
      dialogid: 'string',
      state: 'string',
      domain: 'string',
      dialled: 'string',
      number: 'string',
      login: 'string',
      name: 'string',
      verstat: 'string',
      ended_by: 'string',
      end_reason: 'string',
    },
  ],
  ['scenario', { id: 'string', version: 'string', run: 'string', language: 'string' }],
  ['event', { kind: 'string', name: 'string', data: 'any' }],
  ['error', { code: 'string', message: 'string', block: 'string' }],
]);

/** Possible values of their fields. */
export const BUILT_IN_VALUES: ReadonlyMap<string, Readonly<Record<string, readonly string[]>>> = new Map([
  [
    'call',
    {
      state: CALL_STATES,
      ended_by: CALL_ENDERS,
    },
  ],
]);

/** Maps that every expression can read; their keys are known only at run time. */
export const BUILT_IN_MAPS: ReadonlyMap<string, ValueType> = new Map([['secrets', 'object']]);

/** Reserved words of CEL, and `end`, the target that ends a run. */
const RESERVED: ReadonlySet<string> = new Set([...CEL_WORDS, 'end']);
const IDENTIFIER = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** Names of parameters, variables and blocks share one space, because expressions read all three. */
export class Names {
  readonly #taken = new Map<string, string>(
    [...BUILT_IN_RECORDS.keys(), ...BUILT_IN_MAPS.keys()].map((name) => [name, 'the language']),
  );
  readonly #source: Source;
  readonly #refused = new Set<string>();
  /** The nodes of the taken names. */
  readonly nodes = new Map<string, Node>();

  constructor(source: Source) {
    this.#source = source;
  }

  /** Declared names that cannot be used. They are reported where they are declared, and not where they are read. */
  get refused(): ReadonlySet<string> {
    return this.#refused;
  }

  /** Notes a mistake and returns false when the name cannot be used. `kind` is e.g. `parameter`. */
  take(name: string, kind: string, node: Node): boolean {
    const taken = this.#take(name, kind, node);
    if (!taken) this.#refused.add(name);
    return taken;
  }

  #take(name: string, kind: string, node: Node): boolean {
    if (!IDENTIFIER.test(name)) {
      const better = name.replaceAll(/[^A-Za-z0-9_]+/g, '_').replace(/^[^A-Za-z]+/, '');
      this.#source.problem(
        node,
        `"${name}" cannot be the name of a ${kind}: letters, digits and _ only, first a letter`,
        better === '' ? undefined : `write ${better}`,
      );
      return false;
    }
    if (RESERVED.has(name)) {
      this.#source.problem(
        node,
        `"${name}" cannot be the name of a ${kind}: the word is reserved`,
        `write ${name}_1 or another name`,
      );
      return false;
    }
    const owner = this.#taken.get(name);
    // The YAML source already reports duplicate keys.
    if (owner === kind) return false;
    if (owner !== undefined) {
      this.#source.problem(
        node,
        `"${name}" is already the name of ${owner === 'the language' ? 'a part of the language' : `a ${owner}`}`,
        'choose another name',
      );
      return false;
    }
    this.#taken.set(name, kind);
    this.nodes.set(name, node);
    return true;
  }
}
