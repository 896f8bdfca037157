/** Routes of webhooks beside those of their collection: a test, and the deliveries. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { WebhookRow } from '../../runtime/domain/index.ts';
import { fieldTypes } from '../../runtime/model/index.ts';
import type { DeliveryRow, Webhooks } from '../../runtime/webhooks/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { answerPage, answerRead, Count, ListQuery, ReadQuery, selectionOf, wantsCount } from '../collection/list.ts';
import { isId } from '../domain-center/domain-resource.ts';
import type { WebhookResource } from '../domain-center/webhook-resource.ts';
import { RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath } from './schemas.ts';

const DELIVERY = ':delivery(^[^!]+)';
const DeliveryPath = Type.Object({ ...IdPath.properties, delivery: Type.String({ minLength: 1 }) });
/** Deliveries of a list without a limit. */
const MAX_LIST = 1_000;
const NEWEST_FIRST = '[{"created":"desc"}]';

export interface WebhookRoutesDeps {
  readonly resource: WebhookResource;
  readonly webhooks: Pick<Webhooks, 'deliveries' | 'test' | 'redeliver'>;
}

/** @param path of the collection */
export function webhookRoutes(app: App, path: string, { resource, webhooks }: WebhookRoutesDeps): void {
  const one = `${path}/${ID}`;
  const { deliveries } = webhooks;
  const { schema } = deliveries.definition;
  const type = { fields: Object.keys(schema.properties), aliases: {}, types: fieldTypes(schema) };
  const Listed = Type.Partial(schema);
  const Shown = Type.Object({
    ...Listed.properties,
    payload: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'The body that is sent' })),
  });
  const shownType = { ...type, fields: [...type.fields, 'payload'] };
  const shown = (row: DeliveryRow): object => ({ ...row, payload: JSON.parse(row.body) as object });

  /** @throws RestError 404/1404 */
  const webhookOf = async (request: FastifyRequest, id: string): Promise<WebhookRow> => {
    const webhook = await resource.read(sessionOf(request), id);
    if (webhook === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: resource.entity });
    return webhook;
  };
  /** @throws RestError 404/1404 */
  const deliveryOf = async ({ id: webhookId }: WebhookRow, id: string): Promise<DeliveryRow> => {
    const row = isId(id) ? await deliveries.get(id) : undefined;
    if (row?.webhook_id !== webhookId) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Delivery' });
    return row;
  };

  app.get(
    `${one}/deliveries`,
    {
      schema: {
        description: 'Deliveries of the last seven days, the newest first.',
        params: IdPath,
        querystring: ListQuery,
        response: answers({ 200: Type.Union([Type.Array(Listed), Count]), 400: ErrorAnswer, 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const { id } = await webhookOf(request, request.params.id);
      const { query } = request;
      const selection = { ...selectionOf(type, { order: NEWEST_FIRST, ...query }), equal: { webhook_id: id } };
      if (wantsCount(query)) return { count: await deliveries.count(selection) };
      return answerPage(type, await deliveries.select({ ...selection, limit: selection.limit ?? MAX_LIST }), query);
    },
  );

  app.get(
    `${one}/deliveries/${DELIVERY}`,
    {
      schema: { params: DeliveryPath, querystring: ReadQuery, response: answers({ 200: Shown, 404: ErrorAnswer }) },
    },
    async (request) => {
      const { id, delivery } = request.params;
      return answerRead(shownType, shown(await deliveryOf(await webhookOf(request, id), delivery)), request.query);
    },
  );

  app.post(
    `${one}/deliveries/${DELIVERY}/redeliver`,
    {
      schema: {
        description: 'Sends a delivery once more, under the same id; one that waits is sent now.',
        params: DeliveryPath,
        response: answers({ 200: Shown, 404: ErrorAnswer, 422: ErrorAnswer }),
      },
    },
    async (request) => {
      const { id, delivery } = request.params;
      const webhook = await webhookOf(request, id);
      const row = await deliveryOf(webhook, delivery);
      if (!webhook.enabled)
        throw new RestError('CANNOT_APPLY', { field: 'enabled', reason: 'is false: this webhook sends nothing' });
      const again = await webhooks.redeliver(row);
      if (again !== undefined) return answerRead(shownType, shown(again), {});
      throw new RestError('CANNOT_APPLY', { field: 'status', reason: 'the delivery is just being sent' });
    },
  );

  app.post(
    `${one}/test`,
    {
      schema: {
        description: 'Sends the event `webhookevents.test` once, and answers how it went.',
        params: IdPath,
        response: answers({ 200: Shown, 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const webhook = await webhookOf(request, request.params.id);
      return answerRead(shownType, shown(await webhooks.test(webhook)), {});
    },
  );
}
