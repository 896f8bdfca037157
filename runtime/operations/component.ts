/** Makes the components `operation.NAME` from the operations. */
import { Type } from 'typebox';
import { type Component, defineComponent, unavailable } from '../runs/index.ts';
import type { Outcome, ResultField, Value, ValueType } from '../language/index.ts';
import type { OperationDefinition } from './definition.ts';
import { operations } from './registry.ts';
import { settingsOf } from './request/target.ts';

/**
 * The component of an operation: `operation.refer` in YAML, `await operation.refer({...})` in scripts. Its settings are all
 * parameters of the operation, and its result is the operation's answer.
 */
function operationComponent(operation: OperationDefinition): Component {
  const { name, summary, response, startsCall, target } = operation;
  const results = resultFields(response);
  const hasResult = 'result' in results;
  const outcomes = outcomesOf(operation, results);
  return defineComponent({
    name: `operation.${name}`,
    summary,
    docs: documentation(operation),
    settings: settingsOf(operation),
    exits: {
      next: { description: 'The operation answered.' },
      ...(hasResult ? { failed: { description: 'The answer has another result than `ok`.', otherwise: 'next' } } : {}),
    },
    results,
    ...(outcomes === undefined ? {} : { outcomes }),
    waits: true,
    // Those on a dialog continue its call.
    beginsCall: startsCall && (target === 'none' || target === 'conference'),
    method: `operation.${name}`,
    request: () => name,
    run: async ({ services, domain, signal, sensitive }, settings) => {
      if (!services.operations) throw unavailable('operations are not available here');
      const answer = await services.operations.call(name, domain, settings as Record<string, Value>, signal, sensitive);
      const fields: Readonly<Record<string, Value>> = Array.isArray(answer)
        ? { ids: answer as readonly Value[] }
        : (answer as Readonly<Record<string, Value>>);
      return { exit: hasResult && fields['result'] !== 'ok' ? 'failed' : 'next', fields };
    },
  });
}

const Ids = Type.Array(Type.String());

interface ResponseSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, ResponseSchema>>;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** The outcomes of an operation with response modes: `ok`, or a failure without a target dialog. */
function outcomesOf(
  { response, target }: OperationDefinition,
  { result }: Readonly<Record<string, ResultField>>,
): readonly Outcome[] | undefined {
  const failures = (result?.values ?? []).filter((value) => value !== 'ok');
  if (failures.length === 0) return undefined;
  const { properties = {} } = response as ResponseSchema;
  const dialog = ['new_dialogid', ...(target === 'none' ? ['dialogid'] : [])].find((name) => name in properties);
  return [
    { exit: 'next', values: { result: ['ok'] } },
    { exit: 'failed', values: { result: failures, ...(dialog === undefined ? {} : { [dialog]: [''] }) } },
  ];
}

function resultFields({ properties, type }: ResponseSchema): Readonly<Record<string, ResultField>> {
  if (type === 'array') return { ids: { type: 'list', description: 'The ids.', schema: Ids } };
  return Object.fromEntries(
    Object.entries(properties ?? {}).map(([field, schema]) => [
      field,
      { type: valueType(schema), description: schema.description ?? '', ...detailsOf(schema) },
    ]),
  );
}

function detailsOf(schema: ResponseSchema): Pick<ResultField, 'values' | 'schema'> {
  const { type, enum: values, const: constant } = schema;
  if (type === 'array' || type === 'object') return { schema };
  if (typeof constant === 'string') return { values: [constant] };
  return values === undefined ? {} : { values: values.map(String) };
}

function valueType({ type, enum: values, const: constant }: ResponseSchema): ValueType {
  if (type === 'string' || values !== undefined || typeof constant === 'string') return 'string';
  if (type === 'array') return 'list';
  return type === 'boolean' || type === 'integer' || type === 'number' || type === 'object' ? type : 'any';
}

function documentation({ target, parameters, example }: OperationDefinition): string {
  const dialog = {
    none: '',
    conference: '',
    participant: '',
    dialog:
      'Name one dialog by `dialogid` or another selector; several that match are an error `ambiguous` with their ids. ',
    dialogs: 'Name the dialogs by `dialogid` or another selector; it is done to all that match. ',
    found: 'Name the dialogs by a selector. ',
  }[target];
  const wait =
    'response_mode' in parameters.properties
      ? '`response_mode` says how long the block waits; the operation goes on by itself. '
      : '';
  return `${dialog}${wait}For instance \`${JSON.stringify(example)}\`.`;
}

/** The components of all operations, in the order of the table. */
export const operationComponents: readonly Component[] = operations.map((operation) => operationComponent(operation));
