/** Builds the `|`-separated fields of the frames to an application, as observed on drachtio-server's wire. */
import { randomUUID } from 'node:crypto';
import { formatHost, isWebSocket, type SipMessage, type Source, type TransportName } from '../stack/index.ts';

/** Cache of the last formatted second: every frame has a time, and many fall into one second. */
let second = -1;
let secondText = '';

/**
 * `hh:mm:ss.uuuuuu`, UTC.
 * @param now ms since 1970, with fractions.
 */
export function timeOfDay(now = performance.timeOrigin + performance.now()): string {
  const current = Math.floor(now / 1000);
  if (current !== second) {
    second = current;
    secondText = new Date(current * 1000).toISOString().slice(11, 19);
  }
  const micros = Math.floor((now - current * 1000) * 1000);
  return `${secondText}.${String(micros).padStart(6, '0')}`;
}

export function newId(): string {
  return randomUUID();
}

/** Peer and size of a message. A message that was never on the wire has size 0 and protocol `unknown`. */
export interface WireMeta {
  readonly size: number;
  /** `udp`, `tcp`, `tls`, `unknown`, or empty where drachtio-server leaves it out. */
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
}

/** As observed at drachtio-server, WebSockets are reported as `tcp`; the Via tells them apart. */
export function protocolOf(transport: TransportName): string {
  return isWebSocket(transport) ? 'tcp' : transport;
}

export function metaOf(message: SipMessage, source: Source): WireMeta {
  return { size: message.wireSize, protocol: protocolOf(source.transport), address: source.address, port: source.port };
}

function wire(meta: WireMeta): string {
  return `${meta.size}|${meta.protocol}|${meta.address}|${meta.port}|${timeOfDay()}`;
}

/** A request outside of dialogs. The fields end with the local address and an empty session token. */
export function newRequestFields(meta: WireMeta, transactionId: string, local: { host: string; port: number }): string {
  return `${newId()}|sip|network|${wire(meta)}|${transactionId}||${formatHost(local.host)}|${local.port}|`;
}

/** A request in a dialog, or a response. */
export function networkFields(meta: WireMeta, transactionId: string, dialogId: string): string {
  return `${newId()}|sip|network|${wire(meta)}|${transactionId}|${dialogId}|`;
}

/** A request that the server sent without a command. */
export function unsolicitedFields(meta: WireMeta, dialogId: string): string {
  return `${newId()}|sip|application|${wire(meta)}|unsolicited|${dialogId}|`;
}

export function okFields(commandId: string, ...rest: readonly string[]): string {
  return [newId(), 'response', commandId, 'OK', ...rest].join('|');
}

/** A SIP-level error: the connection stays. */
export function nokFields(commandId: string, reason: string): string {
  return `${newId()}|response|${commandId}|NOK|${reason}`;
}

/** A protocol error: the connection closes. */
export function noFields(commandId: string, reason: string): string {
  return `${newId()}|response|${commandId}|NO|${reason}`;
}

/** Echo of a request that was sent. */
export function sentRequestFields(commandId: string, meta: WireMeta, transactionId: string): string {
  return `${newId()}|response|${commandId}|OK|application|${wire(meta)}|${transactionId}|Msg sent:|`;
}

/** Echo of a response that was sent. */
export function sentResponseFields(commandId: string, meta: WireMeta, transactionId: string, dialogId: string): string {
  return `${newId()}|response|${commandId}|OK|application|${wire(meta)}|${transactionId}|${dialogId}||Msg sent:|`;
}

/** A proxied response; more will follow. */
export function proxiedFields(commandId: string, meta: WireMeta): string {
  return `${newId()}|response|${commandId}|OK|network|${wire(meta)}|||continue`;
}
