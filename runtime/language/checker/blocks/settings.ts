/** Checks and compiles the settings of blocks. */
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { type Node, type Scalar, isAlias, isMap, isScalar, isSeq } from 'yaml';
import { parseDuration } from '../../duration.ts';
import type { Expression, ExpressionCompiler } from '../../expression/expression.ts';
import { nearest } from '../../../words/index.ts';
import { suggestName } from '../../problem.ts';
import type { Compiled } from '../../program.ts';
import { soundProblem } from '../../prompts.ts';
import { settingKind } from '../../setting.ts';
import { hasExpression, splitTemplate } from '../../expression/template.ts';
import { type Value as Plain, type ValueType, isOfType, plainText } from '../../values.ts';
import { foldEntries, foldList } from '../text/fold.ts';
import { BLOCK_KEYS, namedSetting } from './block-hints.ts';
import { durationHint } from './duration-hint.ts';
import { forValue, nameInBraces, placeholders, withoutExpressions } from '../text/placeholders.ts';
import { type Schema, describe, example, isAny, variant } from './schema.ts';
import { type Entry, type Source, scalarText } from '../text/source.ts';
import { asWhole, literalHint, otherForm, variableHint } from './setting-hints.ts';
import { isTimezone } from './starts.ts';
import { BUILT_IN_MAPS, BUILT_IN_RECORDS } from '../names/names.ts';
import { celFits, conversion, plainType, staticType, valueType } from '../names/static-type.ts';

export interface SettingsContext {
  readonly source: Source;
  readonly compiler: ExpressionCompiler;
  /** Variables that can be assigned to. */
  readonly variables: ReadonlyMap<string, ValueType>;
  /** Names with a value that cannot be assigned to. */
  readonly parameters?: ReadonlySet<string>;
  readonly promptsFolder: string;
  /** The settings are JavaScript: texts have quotes, and a number is never a text. */
  readonly isScript?: boolean;
  /** Called with every compiled expression and its node. */
  readonly used: (expression: Expression, node: Node) => void;
}

/** Compiles the YAML of a component's settings for the run, and notes every mistake in it. */
export class SettingsChecker {
  readonly #context: SettingsContext;

  constructor(context: SettingsContext) {
    this.#context = context;
  }

  /** @returns undefined after a noted mistake */
  compile(node: Node | null, schema: TSchema, what: string, fallback: Node): Compiled | undefined {
    // The YAML source already reports aliases.
    if (isAlias(node)) return undefined;
    if (this.#isNameInBraces(node, (schema as Schema).properties)) return undefined;
    const kind = settingKind(schema);
    if (kind === 'assignments') return this.#assignments(node, what, fallback);
    if (kind === 'condition') return this.#condition(node, what, fallback);
    const shape = variant(schema, node);
    // `${...}` in a script is a JavaScript template literal.
    if (kind === 'script' && isScalar(node) && node.value !== null)
      return this.#literal(scalarText(node), node, shape, what);
    if (shape.type === 'object' && shape.properties) return this.#object(node, shape, what, fallback);
    if (node === null || (isScalar(node) && node.value === null)) {
      if (isAny(shape)) return { kind: 'constant', value: null };
      return this.#mistake(fallback, `${what} is empty`);
    }
    if (isScalar(node)) return this.#scalar(node, shape, what, schema);
    if (shape.type === 'array' && isSeq(node)) return this.#list(node.items as Node[], node, shape, what);
    if (isAny(shape) || (shape.type === 'object' && isMap(node))) return this.value(node, what);
    return this.#mistake(node, `${what} must be ${describe(shape)}`);
  }

  /** The same for a single value in place of named settings: `play: welcome.wav`. */
  compileShorthand(node: Node, schema: TSchema, setting: string, what: string, fallback: Node): Compiled | undefined {
    const { properties = {} } = schema as Schema;
    const property = properties[setting];
    const other = property && otherDuration(node, variant(property, node), properties);
    if (other !== undefined)
      return this.#mistake(node, `${what} alone is no duration`, namedSetting(what.replaceAll('"', ''), node, [other]));
    const single = property && this.compile(node, property, what, fallback);
    return single && this.#withDefaults([[setting, single]], schema, what, fallback);
  }

  /** Compiles any value: a literal that may contain expressions at any depth. */
  value(node: Node | null, what: string): Compiled | undefined {
    if (node === null) return { kind: 'constant', value: null };
    if (isAlias(node)) return undefined;
    if (isScalar(node)) {
      if (typeof node.value === 'string' && hasExpression(node.value)) return this.#template(node, what);
      if (typeof node.value === 'string') this.#nameAsText(node, node.value);
      return { kind: 'constant', value: node.value as Plain };
    }
    if (isSeq(node)) {
      const items = node.items.map((item) => this.value(item as Node, what));
      return items.every((item) => item !== undefined) ? foldList(items) : undefined;
    }
    if (isMap(node)) {
      if (this.#isNameInBraces(node)) return undefined;
      const entries = this.#context.source.entries(node).map(({ key, value }) => {
        // `vars: { tries: tries }`
        if (isScalar(value) && value.value === key && this.#context.compiler.reads(key))
          this.#context.source.warning(value, `this is the text "${key}"`, this.#asExpression(key));
        return [key, this.value(value, what)] as const;
      });
      return foldEntries(entries);
    }
    return this.#mistake(node, `${what} is no value`);
  }

  #object(node: Node | null, schema: Schema, what: string, fallback: Node): Compiled | undefined {
    const properties = schema.properties ?? {};
    let entries: Entry[] = [];
    if (isMap(node)) entries = this.#context.source.entries(node);
    else if (node !== null && !(isScalar(node) && node.value === null)) {
      const names = Object.keys(properties);
      const exact = names.filter((name) => isScalar(node) && this.#isFit(node, properties[name] ?? {}));
      const fits = exact.length > 0 ? exact : textWanted(node, schema);
      if (names.length === 0) return this.#mistake(node, `${what} has no settings`, 'write nothing behind it');
      return this.#mistake(
        node,
        `${what} must be settings: ${names.join(', ')}`,
        namedSetting(what.replaceAll('"', ''), node, fits),
      );
    }
    const compiled: (readonly [string, Compiled | undefined])[] = [];
    for (const { key, keyNode, value } of entries) {
      const property = properties[key];
      if (property === undefined) {
        compiled.push([
          key,
          this.#mistake(
            keyNode,
            `${what} has no setting "${key}"`,
            BLOCK_KEYS.includes(key)
              ? `write it beside ${what.replaceAll('"', '')}, as deep as that`
              : suggestName(key, Object.keys(properties)),
          ),
        ]);
      } else {
        compiled.push([key, this.compile(value, property, `"${key}"`, keyNode)]);
      }
    }
    return this.#withDefaults(compiled, schema, what, fallback);
  }

  /** True when a literal fits a setting that takes more than arbitrary text. */
  #isFit({ value }: Scalar, schema: TSchema): boolean {
    const { type, pattern, enum: names } = schema as Schema;
    const isAnyText = type === 'string' && pattern === undefined && names === undefined;
    return type !== undefined && !isAnyText && Value.Check(schema, value);
  }

  /** Adds the defaults of omitted settings, and notes missing required ones. */
  #withDefaults(
    given: readonly (readonly [string, Compiled | undefined])[],
    schema: Schema,
    what: string,
    fallback: Node,
  ): Compiled | undefined {
    const compiled = [...given];
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (given.some(([key]) => key === name)) continue;
      const { default: preset } = property as Schema;
      if (preset !== undefined) compiled.push([name, { kind: 'constant', value: preset as Plain }]);
      else if (schema.required?.includes(name)) {
        compiled.push([
          name,
          this.#mistake(
            fallback,
            `${what} lacks the setting "${name}"`,
            example(name, property, this.#context.isScript),
          ),
        ]);
      }
    }
    return foldEntries(compiled);
  }

  #list(items: readonly Node[], node: Node, schema: Schema, what: string): Compiled | undefined {
    const itemSchema = schema.items ?? {};
    if (items.length < (schema.minItems ?? 0)) return this.#mistake(node, `${what} is an empty list`);
    if (items.length > (schema.maxItems ?? Infinity))
      return this.#mistake(node, `${what} has more than ${schema.maxItems} items`);
    const compiled = items.map((item) => this.compile(item, itemSchema, `an item of ${what}`, item));
    return compiled.every((item) => item !== undefined) ? foldList(compiled) : undefined;
  }

  /** @param whole the schema with all its alternatives: an expression may produce any of them */
  #scalar(node: Scalar, schema: Schema, what: string, whole: Schema): Compiled | undefined {
    if (typeof node.value === 'string' && hasExpression(node.value)) {
      const compiled = this.#template(node, what);
      const unit =
        settingKind(schema) === 'duration' && compiled?.kind === 'template' ? compiled.parts.at(-1) : undefined;
      if (typeof unit === 'string' && !/^[\d.]*(?:ms|s|m|h)$/.test(unit))
        return this.#mistake(
          node,
          `${what} is no duration`,
          durationHint(`1${unit}`).replace(/\b1(?=[smh])/, '${...}'),
        );
      return compiled && this.#fits(compiled, whole, node, what);
    }
    // `to: 0123` means the digits as written.
    const literal =
      !this.#context.isScript && schema.type === 'string' && typeof node.value === 'number'
        ? (node.source ?? String(node.value))
        : node.value;
    return this.#literal(literal as Plain, node, schema, what);
  }

  #literal(value: Plain, node: Scalar, schema: Schema, what: string): Compiled | undefined {
    const kind = settingKind(schema);
    if (kind === 'duration' && (typeof value !== 'string' || parseDuration(value) === undefined)) {
      return this.#mistake(node, `${what} is no duration`, this.#asExpression(value) ?? durationHint(plainText(value)));
    }
    if (kind === 'sound' && typeof value === 'string') {
      const problem = soundProblem(value, this.#context.promptsFolder);
      const expression = problem && this.#asExpression(value);
      if (problem && (expression !== undefined || problem.warning === undefined))
        return this.#mistake(node, problem.message, expression ?? problem.suggestion);
      if (problem?.warning !== undefined) this.#context.source.warning(node, problem.warning, problem.suggestion);
    }
    if (!Value.Check(schema as TSchema, value)) {
      const names = schema.enum?.map(String);
      const known = this.#asExpression(value);
      const near = nearest(String(value), names ?? []);
      const suggestion = known ?? (near === undefined ? otherForm(value, schema) : `did you mean "${near}"?`);
      return this.#mistake(node, `${what} must be ${describe(schema)}, not ${JSON.stringify(value)}`, suggestion);
    }
    // `refer: ask.digits` would dial these letters.
    if (typeof value === 'string' && kind !== 'script') this.#nameAsText(node, value);
    return { kind: 'constant', value };
  }

  /** The suggestion for a text that is a name, or a foreign placeholder: the expression for its value. */
  #asExpression(value: Plain): string | undefined {
    if (typeof value !== 'string') return undefined;
    const { compiler } = this.#context;
    return forValue(compiler.reads(value) ? value : placeholders(value, (name) => compiler.meant(name))[0]?.name);
  }

  /** Warns of `ask.digits` and `{{ask.digits}}` where `${ask.digits}` is meant. */
  #nameAsText(node: Scalar, value: string): void {
    if (value.includes('.') && this.#context.compiler.reads(value))
      this.#context.source.warning(node, `this is the text "${value}"`, this.#asExpression(value));
    else this.#placeholders(node, value);
  }

  /** Warns of `{{ask.digits}}` and the like. */
  #placeholders(node: Scalar, text: string): void {
    const { source, compiler } = this.#context;
    for (const { start, text: written, name } of placeholders(text, (each) => compiler.meant(each)))
      source.problemInScalar(node, start, `"${written}" is plain text here`, forValue(name), 'warning');
  }

  /** Notes `{ask.digits}` and `{{ask.digits}}` without quotes, which are maps for YAML. */
  #isNameInBraces(node: Node | null, properties: Schema['properties'] = {}): boolean {
    const { compiler } = this.#context;
    const name = nameInBraces(node);
    const meant = name === undefined || Object.hasOwn(properties, name) ? undefined : compiler.meant(name);
    if (meant === undefined || node === null) return false;
    this.#mistake(node, `this is a map, in which "${name}" is empty`, `write "\${${meant}}" for its value`);
    return true;
  }

  #condition(node: Node | null, what: string, fallback: Node): Compiled | undefined {
    if (!isScalar(node) || node.value === null)
      return this.#mistake(node ?? fallback, `${what} must be an expression`, 'e.g. tries < 3');
    if (typeof node.value === 'boolean') return { kind: 'constant', value: node.value };
    const text = scalarText(node);
    const wrapped = /^\$\{(.*)\}$/s.exec(text)?.[1];
    const expression = this.#expression(wrapped ?? text, node, wrapped === undefined ? 0 : 2);
    if (!expression) return undefined;
    if (expression.type !== 'bool' && expression.type !== 'dyn') {
      return this.#mistake(
        node,
        `${what} must be true or false, but this is of type ${plainType(expression.type)}`,
        'compare it, e.g. with ==',
      );
    }
    return { kind: 'expression', expression };
  }

  #assignments(node: Node | null, what: string, fallback: Node): Compiled | undefined {
    const { source, variables } = this.#context;
    if (!isMap(node) || node.items.length === 0)
      return this.#mistake(node ?? fallback, `${what} names no variable`, 'write variable: value');
    const compiled = source.entries(node).map(({ key, keyNode, value }) => {
      const type = variables.get(key);
      if (type === undefined) {
        return [key, this.#unassignable(keyNode, key)] as const;
      }
      const entry = this.#isForgotten(value, type) ? undefined : this.value(value, `"${key}"`);
      return [key, entry && this.#assignable(entry, type, value ?? keyNode, key)] as const;
    });
    return foldEntries(compiled);
  }

  /** Notes an assignment to a name that is not a variable. */
  #unassignable(node: Node, name: string): undefined {
    const { compiler, parameters } = this.#context;
    if (compiler.readsRefused(name)) return undefined;
    if (BUILT_IN_RECORDS.has(name) || BUILT_IN_MAPS.has(name))
      return this.#mistake(node, `"${name}" is a part of the language`, 'set a variable of your own');
    if (compiler.isRecord(name))
      return this.#mistake(node, `"${name}" is a block and no variable`, 'set a variable of your own');
    if (parameters?.has(name) === true || (name.includes('.') && compiler.reads(name)))
      return this.#mistake(node, `"${name}" cannot be assigned`, 'set a variable of your own');
    return this.#mistake(node, `there is no variable "${name}"`, variableHint(name, this.#context.variables));
  }

  /** Notes a foreign placeholder in a setting that takes no text. */
  #isForgotten(node: Node | null, type: ValueType): boolean {
    if (type === 'string' || type === 'any' || !isScalar(node)) return false;
    const suggestion = this.#asExpression(node.value as Plain);
    if (suggestion !== undefined) this.#mistake(node, `this is a text, and no ${type}`, suggestion);
    return suggestion !== undefined;
  }

  #assignable(compiled: Compiled, type: ValueType, node: Node, name: string): Compiled | undefined {
    const actual = staticType(compiled);
    const fits = compiled.kind === 'constant' ? isOfType(compiled.value, type) : celFits(actual, [type]);
    return fits
      ? compiled
      : this.#mistake(
          node,
          `the variable "${name}" is of type ${type}, but this is of type ${plainType(actual)}`,
          asWhole(node, type, this.#context.compiler) ??
            (compiled.kind === 'constant' ? literalHint(compiled.value, type) : conversion(type)),
        );
  }

  #fits(compiled: Compiled, schema: Schema, node: Scalar, what: string): Compiled | undefined {
    const wanted = wantedTypes(schema);
    const actual = staticType(compiled);
    // A number or boolean becomes text, as it does within a longer text.
    const isText = schema.type === 'string' && !schema.enum && settingKind(schema) === undefined;
    if (isText && compiled.kind === 'expression' && PRINTED.has(actual))
      return { kind: 'template', parts: [compiled.expression] };
    if (wanted.length === 0 || celFits(actual, wanted)) return compiled;
    const unit = settingKind(schema) === 'duration' ? 'add the unit, e.g. ${seconds}s' : undefined;
    const message = `${what} must be ${describe(schema)}, but this is of type ${plainType(actual)}`;
    return this.#mistake(node, message, unit ?? conversion(wanted[0] ?? 'any'));
  }

  #template(node: Scalar, what: string): Compiled | undefined {
    const text = node.value as string;
    const split = splitTemplate(text);
    if ('unclosedAt' in split) {
      this.#context.source.problemInScalar(node, split.unclosedAt, `${what} has "\${" without "}"`);
      return undefined;
    }
    this.#placeholders(node, withoutExpressions(text, split.parts));
    const parts = split.parts.map((part) =>
      part.kind === 'text' ? part.text : this.#expression(part.source, node, part.start),
    );
    if (parts.some((part) => part === undefined)) return undefined;
    const [first] = parts;
    if (first === undefined) return { kind: 'constant', value: '' };
    if (parts.length === 1)
      return typeof first === 'string' ? { kind: 'constant', value: first } : { kind: 'expression', expression: first };
    return { kind: 'template', parts: parts as (string | Expression)[] };
  }

  #expression(text: string, node: Scalar, start: number): Expression | undefined {
    const { source, compiler } = this.#context;
    const compiled = compiler.compile(text);
    if ('problem' in compiled) {
      if (compiler.readsRefused(text)) return undefined;
      const { problem } = compiled;
      const [other] = problem.suggestion === undefined ? placeholders(text, (name) => compiler.meant(name)) : [];
      const found = other
        ? { start: other.start, message: 'this is not valid syntax', suggestion: `write ${other.name}, without braces` }
        : problem;
      for (const each of [found, ...(compiled.more ?? [])])
        source.problemInScalar(node, start + each.start, each.message, each.suggestion);
      return undefined;
    }
    for (const doubt of compiled.doubts)
      source.problemInScalar(node, start + doubt.start, doubt.message, doubt.suggestion, 'warning');
    for (const { 1: before = '', 2: single, 3: zone = single ?? '', index } of text.matchAll(ZONED))
      if (!isTimezone(zone))
        source.problemInScalar(
          node,
          start + index + before.length,
          `there is no time zone "${zone}"`,
          'e.g. Europe/London',
        );
    this.#context.used(compiled.expression, node);
    return compiled.expression;
  }

  #mistake(node: Node, message: string, suggestion?: string): undefined {
    this.#context.source.problem(node, message, suggestion);
  }
}

/** A literal time zone in a call such as `now.getHours('Europe/London')`. */
const ZONED = /(\.get(?:FullYear|Month|Date|DayOfWeek|Hours|Minutes|Seconds)\(\s*)(?:'([^'"]*)'|"([^'"]*)")/g;

/** The only required setting, where it takes the text: `call: 102`. */
function textWanted(node: Node | null, { properties = {}, required = [] }: Schema): readonly string[] {
  const [name = '', more] = required.filter((each) => (properties[each] as Schema).default === undefined);
  const isText =
    isScalar(node) && name !== '' && more === undefined && Value.Check(properties[name] ?? {}, scalarText(node));
  return isText && (properties[name] as Schema).type === 'string' ? [name] : [];
}

/** The setting meant by a duration in place of a sound: `hold_music: 20s`. */
function otherDuration(node: Node, schema: Schema, properties: Readonly<Record<string, TSchema>>): string | undefined {
  if (settingKind(schema) !== 'sound' || !isScalar(node) || parseDuration(scalarText(node)) === undefined)
    return undefined;
  const [name, more] = Object.keys(properties).filter((each) => settingKind(properties[each] ?? {}) === 'duration');
  return more === undefined ? name : undefined;
}

/** CEL types that are converted to text implicitly. */
const PRINTED = new Set(['int', 'double', 'bool', 'dyn']);

/** Allowed types of an expression for this schema; empty: any. */
function wantedTypes(schema: Schema): ValueType[] {
  if (schema.anyOf) return schema.anyOf.flatMap((member) => wantedTypes(member));
  if (schema.enum) return ['string'];
  return schema.type === undefined ? [] : [valueType(schema.type)];
}
