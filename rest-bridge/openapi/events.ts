/** The shapes of events as documents: JSON Schemas, and the requests of webhooks in OpenAPI. */
import { type TSchema, Type } from 'typebox';
import { type NamedEvent, namedEvents, webhookEvents } from '../../runtime/events/index.ts';
import { type Json, type JsonObject, plain } from './operation.ts';

/** Name of the schema of an event's data in documents, as a type in programs: `CalleventsCallInit`. */
export function componentOf({ class: name, type }: NamedEvent): string {
  const words = [name, ...(type === '*' ? 'any' : type).split('_')];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** An event of which scenarios choose the type has a pattern in place of its name. */
function eventName({ name, class: ofClass, type }: NamedEvent): TSchema {
  return type === '*' ? Type.String({ pattern: `^${ofClass}\\.[A-Za-z][A-Za-z0-9_]{0,63}$` }) : Type.Literal(name);
}

/** Schemas of the data of all events, by `componentOf`. */
export function dataSchemas(): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    namedEvents().map((event) => [componentOf(event), plain({ ...event.data, description: event.description })]),
  );
}

/** JSON Schemas (2020-12) of the data of all events. */
export function eventSchemas(): readonly { event: string; description: string; schema: JsonObject }[] {
  return namedEvents().map(({ name, description, data }) => ({
    event: name,
    description,
    schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...(plain(data) as JsonObject) },
  }));
}

const HEADERS: readonly (readonly [name: string, description: string])[] = [
  ['webhook-id', 'Id of the delivery, the same in every attempt'],
  ['webhook-timestamp', 'Time of the attempt, in seconds since the epoch'],
  [
    'webhook-signature',
    '`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several are separated by spaces',
  ],
];

/** The requests that webhooks send, for the member `webhooks` of an OpenAPI document. */
export function webhookOperations(): JsonObject {
  const parameters = HEADERS.map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  }));
  return Object.fromEntries(
    webhookEvents().map((event) => {
      const body = Type.Object({
        type: eventName(event),
        timestamp: Type.String({ format: 'date-time', description: 'Time of the event' }),
        domain: Type.String({ description: 'Name of the domain' }),
        data: Type.Ref(`#/components/schemas/${componentOf(event)}`),
      });
      const operation = {
        operationId: `webhook_${event.name.replace('.*', '_any').replace('.', '_')}`,
        tags: ['webhooks'],
        summary: event.description,
        security: [],
        parameters,
        requestBody: { required: true, content: { 'application/json': { schema: plain(body) } } },
        responses: { '2XX': { description: 'Taken; any other answer is a failure' } },
      };
      return [event.name, { post: operation }];
    }),
  );
}
