/** Common parameters of operations: the one source for checks, OpenAPI and the components `operation.NAME`. */
import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { Value } from 'typebox/value';
import { splitDtmfTail } from '../../runs/index.ts';
import { ScenarioError } from '../../language/index.ts';
import { notKnown } from '../../words/index.ts';
import type { ResponseMode } from '../answer/response.ts';

/** A request parameter is missing or not allowed. The REST bridge answers with 400/1400 `{field, reason}`. */
export class ParameterError extends ScenarioError {
  override readonly name = 'ParameterError';
  readonly field: string;
  readonly reason: string;
  constructor(field: string, reason: string) {
    super('parameter', `${field}: ${reason}`, { details: { field, reason } });
    this.field = field;
    this.reason = reason;
  }
}

/** A number, a featurecode or a login: characters that need no escapes in the user part of a URI. */
const DIALLED = '[0-9A-Za-z*#+._~!$-]{1,64}';
/** The same with a DTMF tail. */
const DIALLED_WITH_TAIL = `^${DIALLED}([',][0-9*#A-Da-d',]{0,128})?$`;
/** Text that goes into a header: no line breaks or other control characters. */
const HEADER_TEXT = '^[^\\u0000-\\u001f\\u007f]*$';

export const NumberOrLogin = (description: string) => Type.String({ pattern: `^${DIALLED}$`, description });
export const NumberWithTail = (description: string) => Type.String({ pattern: DIALLED_WITH_TAIL, description });
export const HeaderText = (description: string) => Type.String({ maxLength: 128, pattern: HEADER_TEXT, description });
export const Binding = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: HEADER_TEXT,
  description: 'Label attached to the call.',
});

/** A side of a dialog: SIP URI, by login or by number, or Call-ID of its leg. */
export const SideName = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });

export const CallTimeout = Type.Integer({
  minimum: 1,
  maximum: 3600,
  default: 30,
  description: 'Seconds the first party may ring.',
});
export const TargetTimeout = Type.Integer({
  minimum: 1,
  maximum: 3600,
  default: 30,
  description: 'Seconds the target may ring.',
});
/** `response_mode` of an operation (specification, "Response modes"). */
export const ResponseModeOption = (preset: ResponseMode, maximum: ResponseMode = 5) =>
  Type.Optional(
    Type.Integer({ minimum: 0, maximum, default: preset, description: 'Milestone at which the request is answered.' }),
  );

/**
 * Checks a request against its schema. Unknown fields are refused, because they may be misspelt.
 * @throws ParameterError naming the first wrong field
 */
export function parseParameters<Schema extends TSchema>(schema: Schema, given: unknown): Static<Schema> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new ParameterError('', 'the parameters must be an object');
  const { properties } = schema as unknown as { properties: Record<string, TSchema> };
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) throw new ParameterError(unknown, notKnown(unknown, Object.keys(properties)));
  const [problem] = validator(schema).Check(given) ? [] : Value.Errors(schema, given);
  if (problem) throw parameterError(problem, properties, given as Record<string, unknown>);
  return given as Static<Schema>;
}

type Validator = ReturnType<typeof Compile>;
const validators = new WeakMap<TSchema, Validator>();

/** Compiled at first use: Value.Errors, which is not, takes 4.5 µs where a compiled check takes 0.05. */
function validator(schema: TSchema): Validator {
  const known = validators.get(schema) ?? Compile(schema);
  validators.set(schema, known);
  return known;
}

interface SchemaProblem {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message: string;
  readonly params: unknown;
}

function parameterError(
  problem: SchemaProblem,
  properties: Record<string, TSchema>,
  given: Record<string, unknown>,
): ParameterError {
  if (problem.keyword === 'required') {
    const { requiredProperties: [field = ''] = [] } = problem.params as { requiredProperties?: string[] };
    return new ParameterError(field, 'is required');
  }
  const field = problem.instancePath.split('/')[1] ?? '';
  const { enum: values, pattern } = (properties[field] ?? {}) as { enum?: readonly unknown[]; pattern?: string };
  if (values) return new ParameterError(field, `must be one of ${values.join(', ')}`);
  if (problem.keyword === 'pattern' && pattern === DIALLED_WITH_TAIL)
    return new ParameterError(field, tailReason(String(given[field])));
  if (problem.keyword === 'pattern')
    return new ParameterError(
      field,
      given[field] === '' ? 'must not be empty' : 'holds characters that are not allowed',
    );
  return new ParameterError(field, problem.message);
}

function tailReason(text: string): string {
  const { number } = splitDtmfTail(text);
  if (number === '') return 'must not be empty';
  if (!new RegExp(`^${DIALLED}$`).test(number)) return 'holds characters that are not allowed';
  return 'has a DTMF tail with other characters than 0-9 * # A-D';
}
