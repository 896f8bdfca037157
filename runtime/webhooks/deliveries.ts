/** Deliveries as a collection, for lists. */
import { type Static, Type } from 'typebox';
import { Collection, type CollectionDefinition } from '../domain/index.ts';
import type { Storage } from '../storage/index.ts';

const Ms = (description: string) => Type.Integer({ description: `${description}, milliseconds since the epoch` });
const MsOrNull = (description: string) => Type.Union([Ms(description), Type.Null()]);

/** A delivery as REST shows it, without its body. */
const schema = Type.Object({
  id: Type.String({ description: 'The header `webhook-id`; the same in every attempt' }),
  webhook_id: Type.String(),
  event: Type.String({ description: '`class.type`' }),
  status: Type.Enum(['waiting', 'delivered', 'failed']),
  attempts: Type.Integer({ description: 'Attempts so far; a redelivery begins anew' }),
  created: Ms('The event'),
  expires: Ms('When it is given up'),
  due: MsOrNull('The next attempt'),
  finished: MsOrNull('Its success, or when it was given up'),
  last_status: Type.Union([Type.Integer(), Type.Null()], { description: 'HTTP status of the last attempt' }),
  last_error: Type.String({ description: 'Why the last attempt failed' }),
});

export type DeliveryRow = Static<typeof schema> & {
  /** The JSON that is sent. */
  readonly body: string;
};

const definition: CollectionDefinition = {
  entity: 'delivery',
  table: 'webhook_deliveries',
  schema,
  defaults: {},
  composites: [],
  json: [],
  writeOnly: [],
  hidden: ['body', 'claimed'],
  constraints: {},
};

/** For reading only: the queue writes them. */
export function deliveriesOf({ db }: Pick<Storage, 'db'>): Collection<DeliveryRow> {
  return new Collection<DeliveryRow>(definition, db);
}
