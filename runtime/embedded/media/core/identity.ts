/** The server's identity in events. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/** The FreeSWITCH release whose behaviour is reproduced; clients parse it. */
export const VERSION = '1.11.1-release+git~20260526T204126Z~c2c59645f6~64bit';
export const VERSION_STATUS = '1.11.1-release git c2c5964 2026-05-26 20:41:26Z 64bit';

/** Limits of sessions, and of sessions a second, in `status` and HEARTBEAT. */
export const MAX_SESSIONS = 3000;
export const MAX_SESSIONS_PER_SECOND = 300;

/** The identity of this server: the values at the beginning of every event. */
export class Identity {
  readonly coreUuid = randomUUID();
  readonly startedAt = Date.now();
  readonly address: string;
  readonly host = hostname();
  #sequence = 0;
  #second = -1;
  #local = '';
  #gmt = '';

  /** @param address literal IPv4 address of the SIP profile */
  constructor(address: string) {
    this.address = address;
  }

  /** The headers common to all events, with the next sequence number. */
  eventHeaders(name: string, subclass?: string): Record<string, string> {
    const now = Date.now();
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      const date = new Date(now);
      this.#gmt = date.toUTCString();
      const local = new Date(now - date.getTimezoneOffset() * 60_000).toISOString();
      this.#local = `${local.slice(0, 10)} ${local.slice(11, 19)}`;
    }
    this.#sequence += 1;
    return {
      ...(subclass === undefined ? {} : { 'Event-Subclass': subclass }),
      'Event-Name': name,
      'Core-UUID': this.coreUuid,
      'FreeSWITCH-Hostname': this.host,
      'FreeSWITCH-Switchname': this.host,
      'FreeSWITCH-IPv4': this.address,
      'FreeSWITCH-IPv6': '::1',
      'Event-Date-Local': this.#local,
      'Event-Date-GMT': this.#gmt,
      'Event-Date-Timestamp': String(now * 1000),
      'Event-Sequence': String(this.#sequence),
    };
  }

  /** Up time in words, as `status` and HEARTBEAT write it. */
  upTime(): string {
    const milliseconds = Date.now() - this.startedAt;
    const seconds = Math.floor(milliseconds / 1000);
    const parts: [number, string][] = [
      [Math.floor(seconds / 31_536_000), 'year'],
      [Math.floor(seconds / 86_400) % 365, 'day'],
      [Math.floor(seconds / 3600) % 24, 'hour'],
      [Math.floor(seconds / 60) % 60, 'minute'],
      [seconds % 60, 'second'],
      [milliseconds % 1000, 'millisecond'],
      [0, 'microsecond'],
    ];
    return parts.map(([count, unit]) => `${count} ${unit}${count === 1 ? '' : 's'}`).join(', ');
  }
}
