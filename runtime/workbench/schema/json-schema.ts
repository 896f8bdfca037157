/** Makes the JSON Schema of scenario files. */
import type { TSchema } from 'typebox';
import {
  type ComponentDefinition,
  type ComponentDefinitions,
  DURATION_PATTERN,
  END,
  ERROR_EXIT,
  INTERRUPT_KINDS,
  type InterruptKind,
  settingKind,
  usesCall,
  VALUE_TYPES,
  LANGUAGE,
} from '../../language/index.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** A text with `${...}`, allowed in place of any value. */
const EXPRESSION: JsonSchema = { type: 'string', pattern: '\\$\\{' };
const NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_]{0,63}$';
const TARGET: JsonSchema = { $ref: '#/$defs/target', description: `Name of a block, or ${END}.` };

/**
 * JSON Schema (2020-12) of scenario files, for editors: completes and explains components, settings and exits.
 *
 * @param blocks names to offer for `next` and other targets; a schema cannot refer to other places of the same file
 */
export function scenarioSchema(components: ComponentDefinitions, blocks: readonly string[] = []): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Ringmaster scenario',
    type: 'object',
    required: ['id', 'start', 'blocks'],
    additionalProperties: false,
    properties: {
      id: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$', description: 'How others name it.' },
      name: { type: 'string' },
      description: { type: 'string' },
      parameters: named({ anyOf: [{ enum: VALUE_TYPES }, parameter] }, 'What a caller of the scenario gives.'),
      variables: named({}, 'What it remembers during a run, with the first value.'),
      start: { ...TARGET, description: 'The first block.' },
      on: interrupts(),
      finally: { ...TARGET, description: 'The first block of the branch that runs at the end, in every case.' },
      limits: limits(),
      fallback: { type: 'string', description: 'Id of the scenario that gets the call when this one fails.' },
      language: {
        type: 'string',
        pattern: LANGUAGE.source,
        description: 'Language tag of its runs, e.g. de or de-AT, where the route of a call names none.',
      },
      blocks: named({ $ref: '#/$defs/block' }, 'What the scenario can do.'),
      starts: starts(),
    },
    $defs: {
      target: { anyOf: [{ enum: [...new Set([...blocks, END])] }, { type: 'string', pattern: NAME_PATTERN }] },
      block: { type: 'object', anyOf: [...components.keys()].map((name) => ({ $ref: `#/$defs/${name}` })) },
      ...Object.fromEntries([...components].map(([name, component]) => [name, block(component)])),
    },
  };
}

function limits(): JsonSchema {
  const time = { type: 'string', pattern: DURATION_PATTERN };
  const count = { type: 'integer', minimum: 0 };
  return {
    type: 'object',
    description: 'What a run may use.',
    additionalProperties: false,
    properties: { cpu: time, activation: time, wall: time, memory: count, pending: count, log: count, steps: count },
  };
}

const parameter: JsonSchema = {
  type: 'object',
  required: ['type'],
  additionalProperties: false,
  properties: { type: { enum: VALUE_TYPES }, default: {}, values: { type: 'array' }, description: { type: 'string' } },
};

function named(schema: JsonSchema, description: string): JsonSchema {
  return { type: 'object', description, patternProperties: { [NAME_PATTERN]: schema }, additionalProperties: false };
}

function starts(): JsonSchema {
  const common = { domain: { type: 'string' }, args: { type: 'object' } };
  const section = (properties: JsonSchema): JsonSchema => ({
    anyOf: [{ type: ['string', 'boolean'] }, { type: 'object', properties, additionalProperties: false }],
  });
  const text = { type: 'string' };
  return {
    type: 'object',
    description: 'What starts the scenario beside a call.',
    additionalProperties: false,
    properties: {
      schedule: section({ ...common, cron: text, timezone: text }),
      hook: section({ domain: text }),
      event: section({ ...common, name: text }),
    },
  };
}

/** Names of interrupts by kind; other kinds have none. */
const NAMED_INTERRUPTS: Partial<Record<InterruptKind, string>> = {
  dtmf: '^[0-9*#A-D]$',
  sip: '^(INFO|MESSAGE|NOTIFY)$',
  message: '.',
  event: '.',
  after: DURATION_PATTERN,
};

function interrupts(): JsonSchema {
  const target = (kind: InterruptKind): JsonSchema => {
    const pattern = NAMED_INTERRUPTS[kind];
    if (pattern === undefined) return TARGET;
    const byName = { type: 'object', propertyNames: { pattern }, additionalProperties: TARGET };
    return kind === 'after' || kind === 'event' ? byName : { anyOf: [TARGET, byName] };
  };
  return {
    type: 'object',
    description: 'What cuts the running block short, and where the run goes then.',
    additionalProperties: false,
    properties: Object.fromEntries(INTERRUPT_KINDS.map((kind) => [kind, target(kind)])),
  };
}

function block(component: ComponentDefinition): JsonSchema {
  const { name, summary, exits, openExits } = component;
  return {
    type: 'object',
    description: summary,
    required: [name],
    additionalProperties: false,
    properties: {
      [name]: { description: summary, anyOf: [settings(component), ...single(component)] },
      next: TARGET,
      ...(usesCall(component)
        ? { leg: { type: 'string', description: 'The call it is for; default: the caller.' } }
        : {}),
      exits: {
        type: 'object',
        properties: Object.fromEntries(
          [...Object.entries(exits), [ERROR_EXIT, { description: 'Something went wrong.' }] as const].map(
            ([exit, { description }]) => [exit, { ...TARGET, description }],
          ),
        ),
        ...(openExits
          ? { patternProperties: { [openExits.pattern.source]: { ...TARGET, description: openExits.description } } }
          : {}),
        additionalProperties: false,
      },
    },
  };
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
}

/** The settings; those with a default are optional, and any may be an expression. */
function settings({ settings: schema }: ComponentDefinition): JsonSchema {
  const { properties, required = [] } = schema as ObjectSchema;
  if (!properties) return plain(schema);
  const needed = required.filter((name) => !hasDefault(properties[name]));
  return {
    type: needed.length === 0 ? ['object', 'null'] : 'object',
    additionalProperties: false,
    ...(needed.length === 0 ? {} : { required: needed }),
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, orExpression(property)]),
    ),
  };
}

function hasDefault(schema: TSchema | undefined): boolean {
  return schema !== undefined && 'default' in schema;
}

function single({ settings: schema, shorthand }: ComponentDefinition): JsonSchema[] {
  const property = (schema as ObjectSchema).properties?.[shorthand ?? ''];
  return property ? [orExpression(property)] : [];
}

function orExpression(schema: TSchema): JsonSchema {
  const { description, ...rest } = plain(schema);
  if (settingKind(schema) === 'condition') return { type: ['boolean', 'string'], description };
  if (settingKind(schema) === 'script') return { ...rest, description };
  // `to: 102` is the text as written.
  const isText = rest['type'] === 'string' && !('enum' in rest) && settingKind(schema) === undefined;
  const values = isText ? [rest, { type: 'number' }, EXPRESSION] : [rest, EXPRESSION];
  return { ...(description === undefined ? {} : { description }), anyOf: values };
}

/** The schema without TypeBox's own properties. */
function plain(schema: TSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema)) as JsonSchema;
}
