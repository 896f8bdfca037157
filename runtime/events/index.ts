/** The door of this room: what other rooms use of it. */
export { type CallEventData, type CallEvents, callEvents } from './call-events.ts';
export { eventNameProblem, type NamedEvent, namedEvents, pathOfEvent, webhookEvents } from './catalogue.ts';
export { conferenceEvents } from './conference-events.ts';
export { EventBus, type NodeEvent } from './event-bus.ts';
export { messageEvents } from './message-events.ts';
export { modelEvents } from './model-events.ts';
export {
  gatewayEvents,
  type KnownProvider,
  providerEvents,
  type ProviderState,
  shownGateway,
  shownProviderState,
} from './provider-events.ts';
export { isOnDemand, namesOnDemand } from './on-demand.ts';
export { operationEvents } from './operation-events.ts';
export { runFollowers } from './run-events.ts';
export {
  lastingSelectionOf,
  type Select,
  type Selected,
  SelectedFields,
  selectionKey,
  selectionOf,
} from './selection.ts';
export type {
  Begun,
  KeptSubscription,
  Replay,
  SharedEvents,
  SharedEventsListener,
  SubscriptionName,
} from './shared-events.ts';
export { type Delivery, type Sight, type Sink, Subscription } from './subscription.ts';
