/** The door of this room: what other rooms use of it. */
export { webhookCheck } from './check.ts';
export type { DeliveryRow } from './deliveries.ts';
export type { Addresses } from './target.ts';
export { type DeliveryResult, Webhooks } from './webhooks.ts';
