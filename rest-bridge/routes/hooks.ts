/** `/api/hooks/<code>`: a request starts a scenario and is answered with its return value. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { ArgumentError, type Value } from '../../runtime/language/index.ts';
import { failureTextForOthers, type RunOutcome, type ScenarioStarter } from '../../runtime/runs/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { badParameter, RestError } from '../errors.ts';
import { answers, ErrorAnswer } from './schemas.ts';

/** Default wait of a request for the end of the scenario, in milliseconds. */
const WAIT_MS = 30_000;

const HookPath = Type.Object({ code: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }) });
const HookQuery = Type.Object(
  { wait: Type.Optional(Type.Number({ minimum: 0, maximum: 300, description: 'Seconds to wait for its end' })) },
  { additionalProperties: true, description: 'Further parameters are those of the scenario' },
);
const Started = Type.Object({ run: Type.String({ description: 'Its trace is at /api/runs/<run>' }) });

const NO_HOOK = 'no scenario of this code is there that says starts: { hook: true }, and has no mistakes';

export type Hooks = Pick<ScenarioStarter, 'hook'>;

export function hookRoutes(app: App, { hooks }: { readonly hooks: Hooks }): void {
  const path = '/api/hooks/:code(^[^!]+)';
  const response = answers({
    200: Type.Unknown({ description: 'What the scenario returned' }),
    202: Started,
    400: ErrorAnswer,
    404: ErrorAnswer,
    422: ErrorAnswer,
    503: ErrorAnswer,
  });
  const schema = { params: HookPath, querystring: HookQuery, response };

  app.get(path, { schema }, (request, reply) => start(request, reply, {}));
  app.post(path, { schema: { ...schema, body: Type.Optional(Type.Unknown()) } }, (request, reply) =>
    start(request, reply, fieldsOf(request.body)),
  );

  async function start(
    request: FastifyRequest<{ Params: { code: string }; Querystring: Record<string, unknown> & { wait?: number } }>,
    reply: FastifyReply,
    fields: Readonly<Record<string, Value>>,
  ): Promise<unknown> {
    const { code } = request.params;
    const { wait, ...query } = request.query;
    const { domain } = sessionOf(request);
    const texts = textsOf(query);
    const waitMs = wait === undefined ? WAIT_MS : wait * 1000;
    const result = await hooks.hook(code, { domain, args: fields, texts, waitMs }).catch((error: unknown) => {
      throw error instanceof ArgumentError ? badParameter(error.field, error.reason) : error;
    });
    if (result.kind === 'unknown') throw new RestError('ENTITY_NOT_FOUND', { entity: 'Hook', reason: NO_HOOK });
    if (result.kind === 'refused') {
      const { reason, retryAfterSeconds } = result;
      throw new RestError('UNAVAILABLE', { reason }, { 'retry-after': String(retryAfterSeconds) });
    }
    reply.header('run-id', result.run);
    if (result.outcome === undefined) return reply.code(202).send({ run: result.run });
    return reply.type('application/json').send(JSON.stringify(answerOf(code, result.outcome)));
  }
}

/** @throws RestError 422/1405 when the scenario did not complete */
function answerOf(code: string, { status, value, result, error, reason }: RunOutcome): Value {
  if (status === 'completed') return value ?? result;
  throw new RestError('CANNOT_APPLY', {
    field: code,
    reason: error ? failureTextForOthers(error) : (reason ?? status),
  });
}

/** @throws RestError 400/1400 for a duplicate parameter */
function textsOf(query: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string') throw badParameter(name, 'must be there once');
    texts[name] = value;
  }
  return texts;
}

/** @throws RestError 400/1400 for a body that is not an object */
function fieldsOf(body: unknown): Readonly<Record<string, Value>> {
  // A POST without a body has none, or null.
  if (body === undefined || body === null) return {};
  if (typeof body !== 'object' || Array.isArray(body)) throw badParameter('body', 'must be an object');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was JSON
  return body as Record<string, Value>;
}
