/** Random lists over the fields of a collection, with values that its resources have, nearly have, and do not have. */
import type { Random } from '../../model/support/random.ts';
import { type Query, type Row, evaluate, NAMES } from './reference.ts';

export type Kind = 'text' | 'number' | 'boolean' | 'texts' | 'numbers' | 'json';

const ODD_TEXTS = ['', 'nothing', "x' or 1=1 --", 'é', '50%', 'a|b', '\\', '~', 'true', '7'];
const ODD_NUMBERS = [0, -1, 0.5, 7, 1e12];

export class ListGenerator {
  readonly #random: Random;
  readonly #fields: readonly (readonly [path: string, kind: Kind])[];
  readonly #rows: readonly Row[];

  /** @param fields paths by dots; of `json` ones the values may be of any type */
  constructor(random: Random, fields: Readonly<Record<string, Kind>>, rows: readonly Row[]) {
    this.#random = random;
    this.#fields = Object.entries(fields);
    this.#rows = rows;
  }

  query(): Query {
    const random = this.#random;
    return {
      ...(random.chance(0.85) && { filter: random.chance(0.5) ? this.objectFilter() : this.condition(3) }),
      ...(random.chance(0.6) && { order: Array.from({ length: 1 + random.below(3) }, () => this.#order()) }),
      ...(random.chance(0.5) && { mask: this.#mask() }),
      ...(random.chance(0.3) && { offset: random.pick([0, 1, 2, 5, 1000]) }),
      ...(random.chance(0.3) && { limit: random.pick([1, 2, 7, 1000]) }),
      ...(random.chance(0.2) && { flat: true }),
    };
  }

  /** The field of one of these kinds. */
  path(...kinds: readonly Kind[]): string {
    return this.#path(...kinds);
  }

  property(...kinds: readonly Kind[]): unknown {
    return this.#property(this.#path(...kinds));
  }

  /** An expression of numbers. */
  amount(): unknown {
    return this.#amount(this.#path('number'), 2);
  }

  #path(...kinds: readonly Kind[]): string {
    const fitting = this.#fields.filter(([, kind]) => kinds.includes(kind));
    return this.#random.pick(fitting)[0];
  }

  #has(...kinds: readonly Kind[]): boolean {
    return this.#fields.some(([, kind]) => kinds.includes(kind));
  }

  /** A value that some resource has there, if there are any. */
  #value(path: string): unknown {
    const row = this.#rows[this.#random.below(this.#rows.length)] ?? {};
    return evaluate(['property', path], row);
  }

  #text(path: string): string {
    const value = this.#value(path);
    const item: unknown = Array.isArray(value) && value.length > 0 ? this.#random.pick(value as unknown[]) : value;
    return typeof item === 'string' && this.#random.chance(0.8) ? item : this.#random.pick(ODD_TEXTS);
  }

  #number(path: string): number {
    const value = this.#value(path);
    if (typeof value !== 'number' || this.#random.chance(0.2)) return this.#random.pick(ODD_NUMBERS);
    return value + this.#random.pick([0, 0, 0, 1, -1]);
  }

  objectFilter(): object {
    const entries = Array.from({ length: this.#random.below(4) }, (): [string, unknown] => {
      const [path, kind] = this.#random.pick(this.#fields);
      const condition = this.#objectCondition(path, kind);
      const [first = '', ...rest] = path.split('.');
      if (rest.length === 0 || this.#random.chance(0.5)) return [path, condition];
      return [first, rest.reduceRight<unknown>((inner, key) => ({ [key]: inner }), condition)];
    });
    return Object.fromEntries(entries);
  }

  #objectCondition(path: string, kind: Kind): unknown {
    const random = this.#random;
    if (random.chance(0.1)) return null;
    switch (kind) {
      case 'text':
        return this.#textCondition(path);
      case 'number':
        return random.chance(0.3) ? this.#number(path) : this.#ranges(path);
      case 'boolean':
        return random.pick<unknown>([true, false, 1, 'true', 'TRUE', 'False', '1']);
      case 'texts':
        return random.chance(0.5)
          ? Array.from({ length: random.below(3) }, () => this.#text(path))
          : this.#alternatives(path);
      case 'numbers': {
        const value = this.#value(path);
        return Array.isArray(value) ? value.filter(() => random.chance(0.6)) : random.below(4);
      }
      case 'json': {
        const value = this.#value(path);
        if (typeof value === 'boolean') return random.pick<unknown>([true, false, 'True']);
        if (typeof value === 'number') return random.chance(0.5) ? value : this.#ranges(path);
        if (Array.isArray(value))
          return value.filter(() => random.chance(0.5)).filter((item) => typeof item !== 'object');
        return this.#textCondition(path);
      }
      default:
        return kind satisfies never;
    }
  }

  #alternatives(path: string): string {
    return Array.from({ length: 1 + this.#random.below(2) }, () => escaped(this.#text(path))).join('|');
  }

  #textCondition(path: string): unknown {
    const random = this.#random;
    const text = this.#text(path);
    const cut = Array.from(text)
      .slice(random.below(3), 3 + random.below(5))
      .join('');
    switch (random.below(5)) {
      case 0:
        return `${random.pick(['', '%'])}${escaped(cut)}%`;
      case 1:
        return `/reg/${random.pick(['', 'i/'])}${random.pick(['^', ''])}${quoted(cut)}${random.pick(['', '$', '.*', '[0-9]?'])}`;
      case 2:
        return [text, this.#text(path)];
      case 3:
        return this.#alternatives(path);
      default:
        return escaped(text);
    }
  }

  #ranges(path: string): string {
    const random = this.#random;
    const one = (): string => {
      const [from, to] = [this.#number(path), this.#number(path)].toSorted((a, b) => a - b);
      return random.pick([`${from}`, `${from}~${to}`, `~${to}`, `${from}~`]);
    };
    return Array.from({ length: 1 + random.below(2) }, one).join(random.pick([';', ';', '|']));
  }

  #name(name: string): string {
    const synonym = this.#random.pick(NAMES.get(name) ?? [name]);
    return this.#random.chance(0.1) ? synonym.toUpperCase() : synonym;
  }

  #property(path: string): unknown {
    const name = this.#random.pick(['property', 'prop', 'field']);
    return this.#random.chance(0.3) ? [name, ...path.split('.')] : [name, path];
  }

  /** A condition in prefix notation. */
  condition(depth: number): unknown {
    const random = this.#random;
    const inner = (): unknown => this.condition(depth - 1);
    if (depth > 0 && random.chance(0.5)) {
      const parts = Array.from({ length: 1 + random.below(3) }, inner);
      return random.chance(0.3) ? [this.#name('not'), inner()] : [this.#name(random.pick(['and', 'or'])), ...parts];
    }
    const choices = [
      () => [this.#name(random.pick(['is_null', 'is_empty'])), this.#property(random.pick(this.#fields)[0])],
      ...(this.#has('text', 'json') ? [() => this.#textTest()] : []),
      ...(this.#has('number') ? [() => this.#numberTest()] : []),
      ...(this.#has('boolean')
        ? [() => [this.#name('equal'), this.#property(this.#path('boolean')), random.chance(0.5)]]
        : []),
      ...(this.#has('texts') ? [() => this.#listTest()] : []),
    ];
    return random.pick(choices)();
  }

  #textTest(): unknown {
    const random = this.#random;
    const path = this.#path('text', 'json');
    const [text, property] = [this.#text(path), this.#property(path)];
    const part = Array.from(text)
      .slice(0, 1 + random.below(4))
      .join('');
    const compare = random.pick(['equal', 'not_equal', 'less', 'less_or_equal', 'greater', 'greater_or_equal']);
    switch (random.below(8)) {
      case 0:
        return [this.#name(random.pick(['starts_with', 'ends_with', 'contains'])), property, part];
      case 1:
        return [
          this.#name(random.pick(['like', 'ilike'])),
          property,
          random.pick([`${likable(part)}%`, `%${likable(part)}%`, '_%', '%_', `%${likable(part)}`]),
        ];
      case 2:
        return [this.#name(random.pick(['regexp', 'iregexp'])), property, `${random.pick(['^', ''])}${quoted(part)}`];
      case 3:
        return [this.#name('in'), property, ['list', text, this.#text(path)]];
      case 4:
        return [this.#name(compare), [this.#name('length'), property], random.below(20)];
      case 5:
        return [
          this.#name(compare),
          ['concat', ['lower', property], ['substr', property, 0, random.below(4)]],
          text.toLowerCase(),
        ];
      case 6:
        return [
          this.#name('between'),
          ['coalesce', this.#property(this.#path('text')), ''],
          ...[text, this.#text(path)].toSorted(),
        ];
      default:
        return [this.#name(compare), property, random.chance(0.1) ? this.#property(this.#path('text')) : text];
    }
  }

  #numberTest(): unknown {
    const random = this.#random;
    const path = this.#path('number');
    const compare = this.#name(
      random.pick(['equal', 'not_equal', 'less', 'less_or_equal', 'greater', 'greater_or_equal']),
    );
    return [compare, this.#amount(path, 2), this.#number(path)];
  }

  #amount(path: string, depth: number): unknown {
    const random = this.#random;
    if (depth === 0 || random.chance(0.4)) return this.#property(path);
    const inner = this.#amount(path, depth - 1);
    return random.pick<() => unknown>([
      () => [this.#name(random.pick(['add', 'sub', 'mul', 'div'])), inner, random.pick([0, 1, 2, 4])],
      () => [random.pick(['abs', 'floor', 'ceil', 'round']), inner],
      () => ['if', ['>', inner, this.#number(path)], inner, random.below(9)],
      () => ['coalesce', inner, 0],
      () => ['mod', ['floor', inner], random.pick([2, 3, 7])],
    ])();
  }

  #listTest(): unknown {
    const path = this.#path('texts');
    const property = this.#property(path);
    const items = ['list', this.#text(path), ...(this.#random.chance(0.5) ? [this.#text(path)] : [])];
    return this.#random.pick<() => unknown>([
      () => [this.#name(this.#random.pick(['contains_all', 'contains_any'])), property, items],
      () => [this.#name('greater'), ['size', property], this.#random.below(4)],
      () => [this.#name('in'), this.#text(path), property],
    ])();
  }

  #order(): unknown {
    const random = this.#random;
    const path = this.#path('text', 'number', 'boolean');
    const direction = random.pick(['asc', 'desc']);
    return random.pick<() => unknown>([
      () => path,
      () => ({ [path]: direction }),
      () => [direction, this.#property(path)],
      () => [direction, this.#has('number') ? ['mod', ['floor', this.#property(this.#path('number'))], 3] : path],
      () => [direction, ['length', this.#property(this.#path('text'))]],
    ])();
  }

  #mask(): string {
    const names = [
      ...this.#fields.map(([path]) => path),
      ...this.#fields.map(([path]) => path.split('.')[0] ?? ''),
      'nothing',
      'id',
    ];
    return Array.from({ length: 1 + this.#random.below(4) }, () => this.#random.pick(names)).join(
      this.#random.pick([',', ' , ']),
    );
  }
}

const escaped = (text: string): string => text.replaceAll(/[|%~;\\]/g, '\\$&');
const quoted = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
const likable = (text: string): string => text.replaceAll(/[%_\\]/g, '\\$&');
