/** The door of this room: what other rooms use of it. */
export { LIVE_LISTS } from './live-lists.ts';
export { domainCenter } from './domain-center/index.ts';
export { ClassResource } from './model/class-resource.ts';
export { clientOf } from './openapi/client/client.ts';
export type { OpenApiDocument } from './openapi/document.ts';
export { listenOn } from './listen.ts';
export { createRestServer } from './server.ts';
export type { SipWebSockets, SipWebSocketTarget } from './sip-websocket.ts';
export type { Workbench } from './routes/workbench.ts';
export { webAppsOf } from './web-apps.ts';
